import { AppError } from '../src/errors.ts'

export type AudioBudget = ReturnType<typeof createAudioBudget>
export type AudioReservation = ReturnType<AudioBudget['open']>

/** A bound on the bytes of audio that whole answers hold at once. */
export function createAudioBudget(limit: number) {
  let held = 0
  return {
    /** The share of one text. */
    open() {
      let own = 0
      return {
        /** Counts audio as held. Throws `busy` when the budget is used up. */
        keep(bytes: number) {
          if (held + bytes > limit)
            throw new AppError('busy', 'Too much audio is waiting to be taken', {
              details: ['take the answers that are ready, ask for a stream, or send a shorter text'],
              retryAfter: 10,
            })
          held += bytes
          own += bytes
        },
        /** Gives back all that was kept here. */
        release() {
          held -= own
          own = 0
        },
      }
    },
  }
}
