/** Opens the files and sessions of a model one after the other; they close together. */
import { AppError } from '../../../src/errors.ts'
import {
  openQuantised,
  openSession,
  type QuantisationPlan,
  requireFinite,
  type Session,
  type SessionOptions,
  type TensorFile,
  weightsFolder,
} from '../../../src/inference/inference.ts'
import type { ModelOptions } from './engine.ts'

interface Resource {
  close(): Promise<void>
}

export type ModelOpening = ReturnType<typeof createOpening>

/**
 * Opens a model by `open`, and closes what it kept when it fails. Throws an AppError that names the file that is missing, damaged or
 * does not fit the others: one that `open` finds `invalid` as `unavailable`, since a request for speech does not contain the model.
 */
export async function openModel<Model>(
  open: (opening: ModelOpening) => Promise<Model>,
  signal: AbortSignal | undefined,
): Promise<Model> {
  const opening = createOpening(signal)
  try {
    return await open(opening)
  } catch (thrown) {
    await opening.close()
    if (!(thrown instanceof AppError) || thrown.code !== 'invalid') throw thrown
    throw new AppError('unavailable', thrown.message, { details: thrown.details, cause: thrown })
  }
}

function createOpening(signal: AbortSignal | undefined) {
  const opened: Resource[] = []
  const keep = <T extends Resource>(resource: T) => {
    opened.push(resource)
    return resource
  }
  return {
    signal,
    /** Remembers a resource and returns it. */
    keep,
    /**
     * The weights for the graphs that run every frame: 8-bit ones by `plan`, kept between loads, or the checked ones of `file`
     * itself. `divided` is the same file with stacked matrices apart.
     */
    async weightsOf(
      file: TensorFile,
      { precision = 'int8', cacheFolder }: Pick<ModelOptions, 'precision' | 'cacheFolder'>,
      plan: Omit<QuantisationPlan, 'cacheFolder'>,
      divided = file,
    ): Promise<TensorFile> {
      signal?.throwIfAborted()
      const isQuantised = precision === 'int8'
      if (!isQuantised) await requireFinite(file)
      const weights = isQuantised ? keep(await openQuantised(divided, { ...plan, cacheFolder })) : divided
      signal?.throwIfAborted()
      return weights
    },
    /** Loads a graph over weights. Throws the reason of an abort. */
    async load(graph: Uint8Array, weights: TensorFile, options: SessionOptions): Promise<Session> {
      const session = keep(await openSession(graph, { ...options, weightsFolder: weightsFolder(weights) }))
      signal?.throwIfAborted()
      return session
    },
    /**
     * Checks that the files are still those that were opened: sessions read by path, and the checks used the open files. Closes
     * `quantised`, which another process may make again meanwhile: it then holds the same.
     */
    async settle(files: readonly TensorFile[], quantised?: TensorFile) {
      for (const file of files) await file.requireUnchanged()
      if (!quantised || files.includes(quantised)) return
      opened.splice(opened.indexOf(quantised), 1)
      await quantised.close()
    },
    /** Closes all, the last one first. */
    async close() {
      for (const resource of opened.splice(0).reverse()) await resource.close()
    },
  }
}
