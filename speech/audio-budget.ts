import { AppError } from '../src/errors.ts'

/** How much audio may be held at once by those who want it whole, in bytes: a bound on memory, whatever is asked. */
export interface AudioBudget {
  /** A place in it for one text. */
  open(): AudioReservation
}

export interface AudioReservation {
  /** Counts audio as held. Throws `busy` when there is no room for it. */
  keep(bytes: number): void
  /** Counts all that was kept here as gone. */
  release(): void
}

export function createAudioBudget(limit: number): AudioBudget {
  let held = 0
  return {
    open() {
      let own = 0
      return {
        keep(bytes) {
          if (held + bytes > limit)
            throw new AppError('busy', 'Too much audio is waiting to be taken', {
              details: ['take the answers that are ready, ask for a stream, or send a shorter text'],
              retryAfter: 10,
            })
          held += bytes
          own += bytes
        },
        release() {
          held -= own
          own = 0
        },
      }
    },
  }
}
