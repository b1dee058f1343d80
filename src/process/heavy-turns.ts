import { AppError } from '../errors.ts'

interface Waiting {
  readonly isOver: () => boolean
  readonly begin: () => void
  readonly leave: (reason: AppError) => void
}

const waiting: Waiting[] = []
let isRunning = false

/**
 * Resolves in a turn of the event loop that no other heavy stage of any request has, in the order asked: what follows it up
 * to the next `await` is one stage. Between two stages the loop goes round twice, so that a connection that has just come is
 * accepted, read and answered. Throws `unavailable` where `isOver` says that nobody waits for the work any more.
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
