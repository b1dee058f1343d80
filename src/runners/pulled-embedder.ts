import { AppError } from '../errors.ts'
import type { Embedder, EmbeddingSpace } from '../personas/personas.ts'
import { createModelProcess, type ModelProcess, QueueFull } from './model-process.ts'

export interface InstalledEmbedding {
  readonly folder: string
  /** Changes with the content: vectors of other weights belong to another space. */
  readonly fingerprint: string
}

/** The constants of an embedding model. */
export interface EmbeddingForm {
  /** The length of its vectors. */
  readonly dimension: number
  /** See `Embedder`. */
  readonly trust: number
  readonly languages: readonly string[]
}

/** The models that `aichat models pull` installs, the best first. */
export const embeddingForms: ReadonlyMap<string, EmbeddingForm> = new Map([
  // all-MiniLM-L6-v2 (its config.json, `hidden_size`).
  ['minilm', { dimension: 384, trust: 0.7, languages: ['en'] }],
])

export interface PulledEmbedder extends Embedder {
  /** Whether the model is pulled. */
  isInstalled(): boolean
  close(): Promise<void>
}

export interface PulledEmbedderParts {
  readonly name: string
  readonly form: EmbeddingForm
  readonly installed: () => InstalledEmbedding | undefined
  readonly open?: (model: InstalledEmbedding) => ModelProcess
}

/** An embedding model in a process of its own; the process starts with the first text. */
export function createPulledEmbedder({ name, form, installed, open }: PulledEmbedderParts): PulledEmbedder {
  const { dimension, trust, languages } = form
  const start = open ?? (({ folder }) => createModelProcess({ kind: 'embedding', name, folder }))
  let running: { readonly model: InstalledEmbedding; readonly process: ModelProcess } | undefined
  const space = ({ fingerprint }: InstalledEmbedding): EmbeddingSpace => ({
    key: `${name}@${fingerprint}`,
    model: name,
    dimension,
  })
  return {
    model: name,
    trust,
    languages,
    isInstalled: () => installed() !== undefined,
    space() {
      const model = installed()
      return model && space(model)
    },
    async embed(texts, _role, signal) {
      const model = installed()
      if (!model)
        throw new AppError('unavailable', `The embedding model ${name} is not installed: aichat models pull ${name}`)
      const process = await processFor(model)
      try {
        return { space: space(model), vectors: await process.embed(texts, signal) }
      } catch (reason) {
        if (reason instanceof AppError || signal?.aborted) throw reason
        if (reason instanceof QueueFull) throw new AppError('busy', reason.message, { retryAfter: 5, cause: reason })
        throw new AppError('unavailable', `The embedding model ${name} failed: ${String((reason as Error).message)}`, {
          cause: reason,
        })
      }
    },
    close: async () => running?.process.close(),
  }

  /** Opens a model that was pulled again in a new process. */
  async function processFor(model: InstalledEmbedding): Promise<ModelProcess> {
    if (running && running.model.fingerprint === model.fingerprint) return running.process
    const before = running
    running = { model, process: start(model) }
    await before?.process.close()
    return running.process
  }
}
