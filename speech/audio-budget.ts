import { AppError } from '../src/errors.ts'

/** A bound on the bytes of audio that whole answers hold at once. */
export interface AudioBudget {
  /** The share of one text. */
  open(): AudioReservation
}

export interface AudioReservation {
  /** Counts audio as held. Throws `busy` when the budget is used up. */
  keep(bytes: number): void
  /** Gives back all that was kept here. */
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
