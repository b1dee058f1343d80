import { AppError } from '../errors.ts'
import { childMemory, inTime, spawnChild, type TimeBound } from '../process/process.ts'

export type SchemaMethods = {
  readonly compile: { readonly input: Readonly<Record<string, unknown>>; readonly result: null }
  readonly check: { readonly input: string; readonly result: readonly string[] }
}

/** The most places that are reported for one value. */
export const mostProblems = 19

/** Seconds of compiling a schema, and of checking a value: 5 MB take one. */
const longestSeconds = 10

/**
 * Opens a JSON Schema of draft 2020-12, 2019-09, 7 or 6, in a process of its own: its patterns can compute forever.
 * `name` is for errors. Throws `invalid` with the problems of a document that is no schema or refers to another one.
 */
export async function openSchemaCheck(
  schema: Readonly<Record<string, unknown>>,
  name: string,
  signal: AbortSignal,
  seconds = longestSeconds,
) {
  const lost = () =>
    new AppError('too_large', `${name} needs more than ${childMemory / 2 ** 20} MiB of memory to be checked`)
  const child = spawnChild<SchemaMethods>({
    module: { beside: import.meta.url, name: './json-schema-child' },
    graceMs: 0,
    lost,
  })
  const check = {
    /**
     * The places where a JSON text misses the schema, one line each with its path, at most `mostProblems` of them and a count
     * of the rest; none where it fits. Throws `too_large` where this takes too much time or memory: a pattern can need hours.
     */
    problemsOf: (json: string, stopped: AbortSignal) =>
      inTime(bound('The answer', seconds, stopped), (both) => child.request('check', json, both)),
    close: () => child.kill(),
  }
  try {
    // The process starts first: on a busy machine that takes a second or more, which is no fault of the schema.
    await inTime(bound(name, longestSeconds, signal), (both) => child.request('compile', {}, both))
    await inTime(bound(name, seconds, signal), (both) => child.request('compile', schema, both))
    return check
  } catch (reason) {
    child.kill()
    if (!(reason instanceof AppError) || reason.code !== 'invalid') throw reason
    throw new AppError('invalid', `${name} is no JSON Schema that can be checked`, {
      details: [reason.message, ...reason.details],
      cause: reason,
    })
  }
}

/** The subject is that of the error. */
function bound(subject: string, seconds: number, signal: AbortSignal): TimeBound {
  return {
    seconds,
    signal,
    late: (cause) =>
      new AppError('too_large', `${subject} takes more than ${seconds} seconds to check`, {
        details: ['A pattern of the schema may be the reason: one such as (a+)+$ takes ages for some texts'],
        cause,
      }),
  }
}
