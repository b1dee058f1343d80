import { AppError } from '../errors.ts'

/** The owner of heavy work, and whether it is still wanted. */
export interface HeavyWork {
  /** The user's id; undefined where there is none. */
  readonly user?: string | undefined
  /** True once the client has disconnected. */
  readonly isOver?: (() => boolean) | undefined
}

/** Characters that steps read between two turns: some ten milliseconds' work, a tenth of what a user may notice. */
export const charactersAtOnce = 100_000

/**
 * Runs work that yields, after each of its steps, the characters that it has read; others have their turns after each
 * `charactersAtOnce` of them. Resolves with what the work returns, and rejects as `heavyTurn`.
 */
export async function inTurns<T>(steps: Generator<number, T>, work?: HeavyWork): Promise<T> {
  let left = charactersAtOnce
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    left -= value
    if (left > 0) continue
    await heavyTurn(work)
    left = charactersAtOnce
  }
}

/** Runs such work to its end at once. */
export function atOnce<T>(steps: Generator<number, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

interface Waiting {
  readonly isOver: () => boolean
  readonly begin: () => void
  readonly leave: (reason: AppError) => void
}

/** The stages that wait, by user: the user at the front is served next, and then goes to the end. */
const lines = new Map<string | undefined, Waiting[]>()
let isRunning = false

/**
 * Resolves in a turn of the event loop without another heavy stage: the code up to the next `await` is one stage. The
 * users that wait take turns, and the stages of one user are first come, first served: many requests of one user delay
 * a stage of another by one stage. Between two stages the loop goes round twice, so that a new connection is accepted,
 * read and answered. Rejects with `unavailable` once `isOver` returns true: the client has disconnected.
 */
export function heavyTurn({ user, isOver = () => false }: HeavyWork = {}): Promise<void> {
  return new Promise((begin, leave) => {
    const stage = { isOver, begin, leave }
    const line = lines.get(user)
    if (line) line.push(stage)
    else lines.set(user, [stage])
    if (isRunning) return
    isRunning = true
    setImmediate(next)
  })
}

function next(): void {
  for (let first = takeFirst(); first; first = takeFirst()) {
    if (first.isOver()) {
      first.leave(new AppError('unavailable', 'The caller went away'))
      continue
    }
    first.begin()
    setImmediate(() => setImmediate(next))
    return
  }
  isRunning = false
}

function takeFirst(): Waiting | undefined {
  for (const [user, line] of lines) {
    lines.delete(user)
    const first = line.shift()
    if (line.length > 0) lines.set(user, line)
    return first
  }
  return undefined
}
