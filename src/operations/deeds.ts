import type { Call, Deed, GuardedOperation, Place } from './operation.ts'

export interface Run {
  readonly input: unknown
  /** Undefined for a stream. */
  readonly output?: unknown
  readonly located: unknown
}

/** Records a run that succeeded, where its operation is audited. */
export async function recordDeed(
  operation: GuardedOperation & Place,
  { app, caller, address }: Call,
  { input, output, located }: Run,
): Promise<void> {
  if (!operation.audited) return
  const deed: Deed | undefined = operation.deed ? operation.deed(input, output, located) : {}
  if (!deed) return
  await app.record({
    action: deed.action ?? operation.name,
    actor: caller.id,
    actorName: caller.username,
    target: deed.subject ?? idOf(located) ?? inPath(operation.path, input) ?? idOf(output),
    targetName: deed.name,
    address,
    outcome: 'ok',
  })
}

/** Passes a stream through, and records its run at its end. */
export async function* recordedAtEnd(
  chunks: AsyncIterable<unknown>,
  ...[operation, call, run]: Parameters<typeof recordDeed>
): AsyncGenerator<unknown> {
  yield* chunks
  await recordDeed(operation, call, run)
}

/** The id of a resource, or of the user that it belongs to. */
function idOf(resource: unknown): string | undefined {
  const { id, user } = (resource ?? {}) as { id?: unknown; user?: unknown }
  return typeof id === 'string' ? id : typeof user === 'object' ? idOf(user) : undefined
}

/** The first field of the input that stands in the path. */
function inPath(path: string, input: unknown): string | undefined {
  const [, name = ''] = /:(\w+)/.exec(path) ?? []
  const value = (input as Readonly<Record<string, unknown>>)[name]
  return typeof value === 'string' ? value : undefined
}
