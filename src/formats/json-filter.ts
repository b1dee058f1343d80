import { AppError } from '../errors.ts'
import { spawnChild } from '../process/child.ts'

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
  readonly apply: { readonly input: { readonly expression: string; readonly text: string }; readonly result: string }
}

/** Bytes of memory of the process that filters: jq itself uses 2 GiB at most. */
export const mostFilterMemory = 3 * 1024 * 1024 * 1024

/**
 * Opens jq for an expression, in a process of its own: an expression can compute for ever, and Ctrl-C has to end it. Throws
 * `usage` with jq's own message where the expression is not valid.
 */
export async function openJsonFilter(expression: string, signal: AbortSignal): Promise<JsonFilter> {
  const child = spawnChild<FilterMethods>({
    module: { beside: import.meta.url, name: './json-filter-child' },
    graceMs: 0,
    lost: () =>
      new AppError('too_large', `jq needs more than ${mostFilterMemory / 2 ** 30} GiB of memory for this expression`),
  })
  try {
    await child.request('check', expression, signal)
  } catch (reason) {
    child.kill()
    throw reason
  }
  return {
    apply: (text, stopped) => child.request('apply', { expression, text }, stopped),
    close: () => child.kill(),
  }
}
