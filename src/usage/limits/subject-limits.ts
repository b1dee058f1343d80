import type { HeaderNames } from '../../chat/chat.ts'
import { type Budget, type LimitDocument, readSubject, type SubjectKind } from './documents.ts'
import { type Limited, limitHeaders } from './headers.ts'
import { type LimitRefusal, tooFast, tooMany } from './refusals.ts'
import type { SavedWindow, WindowName } from './store.ts'
import { day, minute, Window } from './windows.ts'

const noBudgets: readonly Budget[] = []

export const windowNames = ['rpm', 'rpd', 'tpm', 'tpd'] as const

const spans = { rpm: minute, rpd: day, tpm: minute, tpd: day } as const

/** The moment at which a request was counted, by slots of both spans. */
export type Counted = ReturnType<typeof slotsAt>

/** The slots of a moment: milliseconds since 1970. */
export function slotsAt(now: number) {
  return { minuteSlot: Math.floor(now / minute.slotMs), daySlot: Math.floor(now / day.slotMs) }
}

/** The limits of one subject, with their counts, unless a desk counts: for all processes of a service, or all instances. */
export class SubjectLimits {
  readonly subject: string
  readonly kind: SubjectKind
  readonly id: string
  document: LimitDocument
  rpm: Window | undefined
  rpd: Window | undefined
  tpm: Window | undefined
  tpd: Window | undefined
  budgets: readonly Budget[] = noBudgets
  countsTokens = false
  /** Its windows were counted in since they were last saved. */
  isDirty = false
  #parallel = Number.POSITIVE_INFINITY
  #running = 0
  readonly #countsHere: boolean

  constructor(subject: string, document: LimitDocument, countsHere = true) {
    this.#countsHere = countsHere
    const { kind, id } = readSubject(subject)!
    this.subject = subject
    this.kind = kind
    this.id = id
    this.document = document
    this.change(document)
  }

  /** Takes a changed document; the counts of windows that stay are kept. */
  change(document: LimitDocument): void {
    this.document = document
    this.budgets = document.budgets ?? noBudgets
    if (!this.#countsHere) return
    for (const name of windowNames) {
      const limit = document[name]
      const window = this[name]
      if (limit === undefined) this[name] = undefined
      else if (window) window.limit = limit
      else this[name] = new Window(spans[name], limit)
    }
    this.countsTokens = this.tpm !== undefined || this.tpd !== undefined
    this.#parallel = document.parallel ?? Number.POSITIVE_INFINITY
  }

  /** Whether requests are counted for it, here or by another process. */
  get isRated(): boolean {
    return this.isRatedByTokens || (this.document.rpm ?? this.document.rpd ?? this.document.parallel) !== undefined
  }

  /** Likewise their tokens. */
  get isRatedByTokens(): boolean {
    return (this.document.tpm ?? this.document.tpd) !== undefined
  }

  /** Whether one more request of so many tokens passes now. */
  fits(tokens: number, now: number): boolean {
    return (
      this.#running < this.#parallel &&
      (this.rpm === undefined || this.rpm.wait(1, now) === 0) &&
      (this.rpd === undefined || this.rpd.wait(1, now) === 0) &&
      (this.tpm === undefined || this.tpm.wait(tokens, now) === 0) &&
      (this.tpd === undefined || this.tpd.wait(tokens, now) === 0)
    )
  }

  /** Counts one more request, which runs from now on. */
  take(tokens: number, now: number): void {
    this.isDirty = true
    this.#running++
    this.rpm?.take(1, now)
    this.rpd?.take(1, now)
    if (!this.countsTokens) return
    this.tpm?.take(tokens, now)
    this.tpd?.take(tokens, now)
  }

  /** Corrects the tokens of a request that was counted then. */
  correct({ minuteSlot, daySlot }: Counted, tokens: number, now: number): void {
    if (tokens === 0 || !this.countsTokens) return
    this.isDirty = true
    this.tpm?.correct(minuteSlot, tokens, now)
    this.tpd?.correct(daySlot, tokens, now)
  }

  /** Takes back a request that was not sent. */
  forget(counted: Counted, tokens: number, now: number): void {
    this.isDirty = true
    this.adjust(counted, -1, -tokens, now)
  }

  /** Changes the counts of requests and tokens of that time; more of them count from now on. */
  adjust(counted: Counted, requests: number, tokens: number, now: number): void {
    this.rpm?.correct(counted.minuteSlot, requests, now)
    this.rpd?.correct(counted.daySlot, requests, now)
    this.correct(counted, tokens, now)
  }

  /** A request ends that was counted. */
  leave(): void {
    this.#running--
  }

  /** More requests run, or, negative, fewer; they are counted already. */
  run(more: number): void {
    this.#running += more
  }

  /** How many more may run at the same time. */
  get free(): number {
    return Math.max(0, this.#parallel - this.#running)
  }

  saved(now: number): readonly SavedWindow[] {
    return windowNames.flatMap((name) => {
      const slots = this[name]?.save(now) ?? []
      return slots.length > 0 ? [{ subject: this.subject, name, slots }] : []
    })
  }

  load(name: WindowName, slots: readonly number[], now: number): void {
    this[name]?.load(slots, now)
  }

  /** The longest wait of its windows for such a request, and the window; undefined where they let it pass. */
  slowest(tokens: number, now: number): { readonly name: WindowName; readonly wait: number } | undefined {
    let found: { name: WindowName; wait: number } | undefined
    for (const name of windowNames) {
      const wait = this[name]?.wait(name.startsWith('r') ? 1 : tokens, now) ?? 0
      if (wait > (found?.wait ?? 0)) found = { name, wait }
    }
    return found
  }

  /** Its own bound on requests at the same time, where that is reached. */
  get fullAt(): number | undefined {
    return this.#running >= this.#parallel ? this.#parallel : undefined
  }
}

/** The windows of these subjects. */
export function windowsOf(subjects: readonly SubjectLimits[]): Limited {
  const requests: Window[] = []
  const tokens: Window[] = []
  for (const { rpm, rpd, tpm, tpd } of subjects) {
    if (rpm) requests.push(rpm)
    if (rpd) requests.push(rpd)
    if (tpm) tokens.push(tpm)
    if (tpd) tokens.push(tpd)
  }
  return { requests, tokens }
}

/** The headers of a request for its client, in any API. */
export type HeadersByApi = Readonly<Record<HeaderNames, Readonly<Record<string, string>>>>

export function headersOf(subjects: readonly SubjectLimits[], now: number): HeadersByApi {
  const windows = windowsOf(subjects)
  return { openai: limitHeaders(windows, 'openai', now), anthropic: limitHeaders(windows, 'anthropic', now) }
}

/** The refusal of a request that one of these subjects does not let pass: of the one with the longest wait. */
export function refusalBy(subjects: readonly SubjectLimits[], tokens: number, now: number): LimitRefusal {
  let slowest: { readonly subject: SubjectLimits; readonly name: WindowName; readonly wait: number } | undefined
  for (const subject of subjects) {
    const slow = subject.slowest(tokens, now)
    if (slow && slow.wait > (slowest?.wait ?? 0)) slowest = { subject, ...slow }
  }
  // A client of either API finds its own names.
  const { openai, anthropic } = headersOf(subjects, now)
  const headers = { ...openai, ...anthropic }
  if (!slowest) {
    const full = subjects.find(({ fullAt }) => fullAt !== undefined)!
    return tooMany(full.kind, full.fullAt!, headers)
  }
  const { subject, name, wait } = slowest
  return tooFast({
    kind: subject.kind,
    what: name.startsWith('r') ? 'requests' : 'tokens',
    limit: subject.document[name]!,
    span: name.endsWith('m') ? 'minute' : 'day',
    wait,
    size: tokens,
    headers,
  })
}
