import { AppError } from '../errors.ts'
import type { Embedder } from '../personas/memory/embedding.ts'
import type { EmbeddingSpace } from '../personas/memory/memory.ts'
import { createModelProcess, type ModelProcess, QueueFull } from './model-process.ts'

/** The pulled embedding model on this machine. */
export interface InstalledMiniLm {
  readonly folder: string
  /** Changes with the content: vectors of other weights belong to another space. */
  readonly fingerprint: string
}

export interface MiniLmEmbedder extends Embedder {
  /** Whether the model is pulled. */
  isInstalled(): boolean
  close(): Promise<void>
}

export interface MiniLmParts {
  readonly name: string
  readonly installed: () => InstalledMiniLm | undefined
  readonly open?: (model: InstalledMiniLm) => ModelProcess
}

/** Length of the model's vectors (its config.json, `hidden_size`). */
const dimension = 384

/** all-MiniLM-L6-v2 in a process of its own; the process starts with the first text. */
export function createMiniLmEmbedder({ name, installed, open }: MiniLmParts): MiniLmEmbedder {
  const start = open ?? (({ folder }) => createModelProcess({ kind: 'embedding', name, folder }))
  let running: { readonly model: InstalledMiniLm; readonly process: ModelProcess } | undefined
  const space = ({ fingerprint }: InstalledMiniLm): EmbeddingSpace => ({
    key: `${name}@${fingerprint}`,
    model: name,
    dimension,
  })
  return {
    model: name,
    trust: 0.7,
    languages: ['en'],
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
  async function processFor(model: InstalledMiniLm): Promise<ModelProcess> {
    if (running && running.model.fingerprint === model.fingerprint) return running.process
    const before = running
    running = { model, process: start(model) }
    await before?.process.close()
    return running.process
  }
}
