import { AppError } from '../../errors.ts'

/** How often a write is tried while others change the persona. */
const mostTries = 3

/** Tries a write until the persona keeps the revision that it was prepared for; throws `busy` at last. */
export async function untilUnchanged<T>(attempt: () => Promise<T | 'changed'>): Promise<T> {
  for (let tried = 1; tried <= mostTries; tried++) {
    const result = await attempt()
    if (result !== 'changed') return result
  }
  throw new AppError('busy', 'The persona is changed all the time: try again when nothing else is', { retryAfter: 5 })
}
