import { type Callback, suite as uvuSuite } from 'uvu'
import { AppError } from '../../src/errors.ts'

/** uvu's suite, with our errors as plain ones: uvu takes `details` of an error for a text and drops the run otherwise. */
export function suite(name: string): ReturnType<typeof uvuSuite> {
  const inner = uvuSuite(name)
  const told = (handler: Callback): Callback =>
    async function told(context) {
      try {
        await handler(context)
      } catch (reason) {
        throw reason instanceof AppError
          ? new Error([reason.message, ...reason.details].join('\n  '), { cause: reason.cause ?? reason })
          : reason
      }
    }
  const test = (title: string, handler: Callback) => inner(title, told(handler))
  return Object.assign(test, inner, {
    only: (title: string, handler: Callback) => inner.only(title, told(handler)),
  }) as ReturnType<typeof uvuSuite>
}

/**
 * Whether all tests run (`npm test -- --all`, or files chosen by a word): a sweep over many cases takes all of them then, and a
 * seeded sample that has every kind otherwise.
 */
export const isWholeRun = process.env['AICHAT_TEST_TIER'] !== 'first'
