import { AppError } from '../../errors.ts'

/** How often a write is tried while others change the persona. */
const mostTries = 3

/**
 * Tries a write, prepared anew each time, until the persona has still the revision that it was prepared for. Throws `busy`
 * when others change the persona during every try.
 */
export async function untilUnchanged<T>(attempt: () => Promise<T | 'changed'>): Promise<T> {
  for (let tried = 1; tried <= mostTries; tried++) {
    const result = await attempt()
    if (result !== 'changed') return result
  }
  throw new AppError('busy', 'The persona is changed all the time: try again when nothing else is', { retryAfter: 5 })
}
