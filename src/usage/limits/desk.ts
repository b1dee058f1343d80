import type { MaybePromise } from '../../accounts/accounts.ts'
import type { HeaderNames } from '../../chat/chat.ts'
import { limitHeaders } from './headers.ts'
import { LimitRefusal, type SentRefusal, sentRefusal } from './refusals.ts'
import { type Counted, type HeadersByApi, refusalBy, type SubjectLimits, slotsAt, windowsOf } from './subject-limits.ts'

/** A request that was counted. */
export interface Grant {
  readonly ticket: number
  /** The state of its windows for its client. */
  headers(names: HeaderNames): Readonly<Record<string, string>>
}

/** Counts requests: in this process, or in one place for several, so that a limit holds for all together. */
export type RateDesk = ReturnType<typeof createDesk>

/** The desk as one process asks it, over a channel. */
export interface AskedDesk extends Pick<RateDesk, 'end' | 'undo'> {
  take(
    subjects: readonly string[],
    tokens: number,
  ): Promise<{ readonly ticket: number; readonly headers: HeadersByApi } | { readonly refusal: SentRefusal }>
  /** Ends all requests that the process had under way, once it is gone. Their counts stay. */
  leave(): void
}

export interface DeskParts {
  find(subject: string): SubjectLimits | undefined
  /** Takes over changed limits. */
  look(): void
  /** Milliseconds since 1970, forward alone. */
  readonly now: () => number
}

interface Running {
  readonly subjects: readonly SubjectLimits[]
  readonly counted: Counted
}

/** A desk that counts in this process. */
export function createDesk({ find, look, now }: DeskParts) {
  const running = new Map<number, Running>()
  let last = 0
  const close = (ticket: number) => {
    const found = running.get(ticket)
    running.delete(ticket)
    for (const each of found?.subjects ?? []) each.leave()
    return found
  }
  return {
    /** Counts a request of so many tokens for all these subjects, or for none: fails with a LimitRefusal. */
    take(names: readonly string[], tokens: number): MaybePromise<Grant> {
      look()
      const at = now()
      // A limit that was removed meanwhile counts nothing.
      const subjects = names.flatMap((name) => find(name) ?? [])
      for (const each of subjects) if (!each.fits(tokens, at)) throw refusalBy(subjects, tokens, at)
      for (const each of subjects) each.take(tokens, at)
      const ticket = ++last
      running.set(ticket, { subjects, counted: slotsAt(at) })
      return { ticket, headers: (api) => limitHeaders(windowsOf(subjects), api, now()) }
    },
    /** Ends a counted request that used so many tokens more (or, negative, fewer) than counted. */
    end(ticket: number, tokens: number) {
      const found = close(ticket)
      for (const each of found?.subjects ?? []) each.correct(found!.counted, tokens, now())
    },
    /** Takes back one that was not sent, with so many tokens. */
    undo(ticket: number, tokens: number) {
      const found = close(ticket)
      for (const each of found?.subjects ?? []) each.forget(found!.counted, tokens, now())
    },
  }
}

/** A desk for another process. */
export function deskForProcess(desk: RateDesk): AskedDesk {
  const running = new Set<number>()
  let hasLeft = false
  return {
    async take(subjects, tokens) {
      try {
        const { ticket, headers } = await desk.take(subjects, tokens)
        if (hasLeft) desk.end(ticket, 0)
        else running.add(ticket)
        return { ticket, headers: { openai: headers('openai'), anthropic: headers('anthropic') } }
      } catch (reason) {
        if (reason instanceof LimitRefusal) return { refusal: sentRefusal(reason) }
        throw reason
      }
    },
    end(ticket, tokens) {
      if (running.delete(ticket)) desk.end(ticket, tokens)
    },
    undo(ticket, tokens) {
      if (running.delete(ticket)) desk.undo(ticket, tokens)
    },
    leave() {
      hasLeft = true
      for (const ticket of running) desk.end(ticket, 0)
      running.clear()
    },
  }
}
