import { AppError } from '../errors.ts'
import { spawnChild } from '../process/child.ts'
import { childMemory } from '../process/memory-bound.ts'
import { inTime } from '../process/time-bound.ts'

/** A jq expression that was compiled once, for any number of JSON texts. */
export interface JsonFilter {
  /**
   * The results of the expression for each JSON value of a text, one a line: texts as they are, all else as compact JSON.
   * Throws `invalid` with jq's message where the expression does not fit the value, or the text is not JSON, and `too_large`
   * where there is not enough memory for it.
   */
  apply(text: string, signal: AbortSignal): Promise<string>
  close(): void
}

/** The methods of the child process. */
export type FilterMethods = {
  readonly check: { readonly input: string; readonly result: null }
  /** Allows the memory for a text of so many characters, before it is sent. */
  readonly allow: { readonly input: number; readonly result: null }
  readonly apply: { readonly input: { readonly expression: string; readonly text: string }; readonly result: string }
}

/** Seconds of filtering a text, beside those that its length takes. */
const longestSeconds = 10

/** Seconds of starting jq, which a busy machine takes long for, and of compiling an expression. */
const longestStart = 30

const advice = 'Bound what it makes, such as with limit(1000; EXPRESSION)'

/** Bytes of a text that jq reads in a second at least. */
const bytesPerSecond = 1024 * 1024

/**
 * Bytes of memory for a character of jq's text, beside those of the expression: a list of small objects takes 38 in jq, measured
 * with jq-web 0.6.2, and its copies on the way some.
 */
export const memoryPerCharacter = 50

/** The most of them: jq itself uses 2 GiB at most. */
export const mostTextMemory = 3 * 1024 * 1024 * 1024

/**
 * Opens jq for an expression, in a process of its own: an expression can compute for ever, and Ctrl-C has to end it. Throws
 * `usage` with jq's own message where the expression is not valid.
 */
export async function openJsonFilter(expression: string, signal: AbortSignal): Promise<JsonFilter> {
  const child = spawnChild<FilterMethods>({
    module: { beside: import.meta.url, name: './json-filter-child' },
    graceMs: 0,
    lost: () =>
      new AppError('too_large', `jq needs more than ${childMemory / 2 ** 20} MiB of memory for this expression`, {
        details: [advice],
      }),
  })
  try {
    await inTime({ seconds: longestStart, signal, late: late(longestStart) }, (both) =>
      child.request('check', expression, both),
    )
  } catch (reason) {
    child.kill()
    throw reason
  }
  return {
    apply(text, stopped) {
      const seconds = longestSeconds + Math.round(text.length / bytesPerSecond)
      const bound = { seconds, signal: stopped, late: late(seconds) }
      return inTime(bound, async (both) => {
        await child.request('allow', text.length, both)
        return child.request('apply', { expression, text }, both)
      })
    },
    close: () => child.kill(),
  }
}

function late(seconds: number): (cause: unknown) => AppError {
  return (cause) =>
    new AppError('too_large', `jq takes more than ${seconds} seconds for this expression`, { details: [advice], cause })
}
