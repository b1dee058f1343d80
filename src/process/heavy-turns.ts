import { AppError } from '../errors.ts'

interface Waiting {
  readonly isOver: () => boolean
  readonly begin: () => void
  readonly leave: (reason: AppError) => void
}

const waiting: Waiting[] = []
let isRunning = false

/**
 * Resolves in a turn of the event loop without another heavy stage, first come, first served over all users: the code up to
 * the next `await` is one stage. Between two stages the loop goes round twice, so that a new connection is accepted, read and
 * answered. Rejects with `unavailable` once `isOver` returns true: the client has disconnected.
 */
export function heavyTurn(isOver: () => boolean = () => false): Promise<void> {
  return new Promise((begin, leave) => {
    waiting.push({ isOver, begin, leave })
    if (isRunning) return
    isRunning = true
    setImmediate(next)
  })
}

function next(): void {
  for (let first = waiting.shift(); first; first = waiting.shift()) {
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
