import type { HeaderNames } from '../../chat/metering.ts'
import { limitHeaders } from './headers.ts'
import { LimitRefusal, type SentRefusal, sentRefusal } from './refusals.ts'
import { type Counted, refuse, type SubjectLimits, windowsOf } from './subject-limits.ts'
import { day, minute } from './windows.ts'

/** A request that was counted, with the state of its windows for its client. */
export interface Grant {
  readonly ticket: number
  readonly headers: Readonly<Record<HeaderNames, Readonly<Record<string, string>>>>
}

/** Counts the requests of several processes of one service in one of them, so that a limit holds for all together. */
export interface RateDesk {
  /** Counts a request of so many tokens for all these subjects, or for none: rejects with a LimitRefusal. */
  take(subjects: readonly string[], tokens: number): Promise<Grant>
  /** Ends a counted request that used so many tokens more (or, negative, fewer) than counted. */
  end(ticket: number, tokens: number): void
  /** Takes back one that was not sent, with so many tokens. */
  undo(ticket: number, tokens: number): void
}

/** The desk as one process asks it, over a channel. */
export interface AskedDesk {
  take(subjects: readonly string[], tokens: number): Grant | { readonly refusal: SentRefusal }
  end(ticket: number, tokens: number): void
  undo(ticket: number, tokens: number): void
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

/** A desk for one process. */
export function createDesk({ find, look, now }: DeskParts): AskedDesk {
  const running = new Map<number, Running>()
  let last = 0
  const close = (ticket: number) => {
    const found = running.get(ticket)
    running.delete(ticket)
    for (const each of found?.subjects ?? []) each.leave()
    return found
  }
  return {
    take(names, tokens) {
      look()
      const at = now()
      // A limit that was removed meanwhile counts nothing.
      const subjects = names.flatMap((name) => find(name) ?? [])
      try {
        for (const each of subjects) if (!each.fits(tokens, at)) refuse(subjects, tokens, at)
      } catch (reason) {
        if (reason instanceof LimitRefusal) return { refusal: sentRefusal(reason) }
        throw reason
      }
      for (const each of subjects) each.take(tokens, at)
      const ticket = ++last
      const counted = { minuteSlot: Math.floor(at / minute.slotMs), daySlot: Math.floor(at / day.slotMs) }
      running.set(ticket, { subjects, counted })
      const windows = windowsOf(subjects)
      return {
        ticket,
        headers: { openai: limitHeaders(windows, 'openai', at), anthropic: limitHeaders(windows, 'anthropic', at) },
      }
    },
    end(ticket, tokens) {
      const found = close(ticket)
      for (const each of found?.subjects ?? []) each.correct(found!.counted, tokens, now())
    },
    undo(ticket, tokens) {
      const found = close(ticket)
      for (const each of found?.subjects ?? []) each.forget(found!.counted, tokens, now())
    },
    leave() {
      for (const ticket of [...running.keys()]) close(ticket)
    },
  }
}
