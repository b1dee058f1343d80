import { readFileSync } from 'node:fs'
import { type Callback, suite as uvuSuite } from 'uvu'
import { AppError } from '../../src/errors.ts'

/**
 * Whether all tests run (`npm test -- --all`, or files chosen by a word): a sweep over many cases takes all of them then, and a
 * seeded sample that has every kind otherwise.
 */
export const isWholeRun = process.env['AICHAT_TEST_TIER'] !== 'first'

/** Seconds of processor time, with `AICHAT_TEST_TIMES=0.5`: tests that use more are named below their file. */
const namedFrom = Number(process.env['AICHAT_TEST_TIMES'] ?? Number.POSITIVE_INFINITY)

interface Whole {
  /**
   * A test that the first tier leaves out. The file says why in a line above its imports,
   * `// Some with --all only: REASON.`, and its other tests show the same behaviour at less cost.
   */
  whole(title: string, handler: Callback): void
}

type UvuSuite = ReturnType<typeof uvuSuite>

type Suite = UvuSuite & Whole & { skip: UvuSuite['skip'] & Whole }

/** uvu's suite, with our errors as plain ones: uvu takes `details` of an error for a text and drops the run otherwise. */
export function suite(name: string): Suite {
  const inner = uvuSuite(name)
  const wrapped = (title: string, handler: Callback): Callback =>
    async function wrapped(context) {
      const before = processorSeconds()
      try {
        await handler(context)
      } catch (reason) {
        throw reason instanceof AppError
          ? new Error([reason.message, ...reason.details].join('\n  '), { cause: reason.cause ?? reason })
          : reason
      } finally {
        const used = processorSeconds() - before
        if (used >= namedFrom) process.stdout.write(`\nnote: ${used.toFixed(1)} s of CPU: ${title}\n`)
      }
    }
  const test = (title: string, handler: Callback) => inner(title, wrapped(title, handler))
  const skip = (title?: string, handler?: Callback) => inner.skip(title, handler)
  return Object.assign(test, inner, {
    skip: Object.assign(skip, {
      whole: (title: string, handler: Callback) => {
        if (isWholeRun) inner.skip(title, handler)
      },
    }),
    only: (title: string, handler: Callback) => inner.only(title, wrapped(title, handler)),
    whole: (title: string, handler: Callback) => {
      if (isWholeRun) inner(title, wrapped(title, handler))
    },
  }) as Suite
}

/** Of this process and of those that it started and waited for; 0 where the system does not tell, or nobody asks. */
function processorSeconds(): number {
  if (namedFrom === Number.POSITIVE_INFINITY || process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100
}
