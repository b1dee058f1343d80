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

/** Where a model lies, and how it is computed. */
export interface ModelOptions {
  readonly folder: string
  /** Where quantised weights are kept between loads. */
  readonly cacheFolder: string
  /** The precision of the language model; the codec is always 32-bit. */
  readonly precision?: 'int8' | 'float32'
  /** Where the codec decodes: in this process, or in parallel on another core. */
  readonly decoder?: 'here' | 'process'
  /** Threads of the language model. Default: 1. */
  readonly threads?: number
}

interface Resource {
  close(): Promise<void>
}

export interface ModelOpening {
  /** Remembers a resource and returns it. */
  keep<T extends Resource>(resource: T): T
  /** Closes one before the others. */
  release(resource: Resource): Promise<void>
  /** The weights for the graphs that run every frame: 8-bit ones kept between loads, or the checked ones of `file` itself. */
  weightsOf(file: TensorFile, plan: QuantisationPlan | undefined, divided?: TensorFile): Promise<TensorFile>
  /** Loads a graph over weights. Throws the reason of an abort. */
  load(graph: Uint8Array, weights: TensorFile, options: SessionOptions): Promise<Session>
  /** Closes all, the last one first. */
  close(): Promise<void>
}

/**
 * Opens a model by `open`, and closes what it kept when it fails. An `invalid` file, which `open` names, is thrown as
 * `unavailable`, since a request for speech does not contain the model; other errors stay as they are.
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

function createOpening(signal: AbortSignal | undefined): ModelOpening {
  const opened: Resource[] = []
  const keep = <T extends Resource>(resource: T) => {
    opened.push(resource)
    return resource
  }
  return {
    keep,
    async release(resource) {
      opened.splice(opened.indexOf(resource), 1)
      await resource.close()
    },
    async weightsOf(file, plan, divided = file) {
      signal?.throwIfAborted()
      if (!plan) await requireFinite(file)
      const weights = plan ? keep(await openQuantised(divided, plan)) : divided
      signal?.throwIfAborted()
      return weights
    },
    async load(graph, weights, options) {
      const session = keep(await openSession(graph, { ...options, weightsFolder: weightsFolder(weights) }))
      signal?.throwIfAborted()
      return session
    },
    async close() {
      for (const resource of opened.splice(0).reverse()) await resource.close()
    },
  }
}
