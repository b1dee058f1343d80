import { codeOf } from './errors.ts'

/** The SQLSTATE of a statement behind one that failed in its transaction. */
const failedBefore = '25P02'

/**
 * The results of all, once all have ended: none continues behind the end of its transaction. Where some failed, with the reason of
 * the one that failed by itself, which those that were on their way behind it only tell of.
 */
export async function allOf<const P extends readonly Promise<unknown>[]>(
  running: P,
): Promise<{ -readonly [K in keyof P]: Awaited<P[K]> }> {
  const ended = await Promise.allSettled(running)
  const failed = ended.filter((each) => each.status === 'rejected')
  const first = failed.find(({ reason }) => codeOf(reason) !== failedBefore) ?? failed[0]
  if (first) throw first.reason
  return Promise.all(running) as Promise<{ -readonly [K in keyof P]: Awaited<P[K]> }>
}
