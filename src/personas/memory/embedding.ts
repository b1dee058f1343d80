import type { EmbeddingSpace } from './memory.ts'

/** Whether a text is kept or asks: some models want to be told. */
export type TextRole = 'document' | 'query'

export interface Embeddings {
  readonly space: EmbeddingSpace
  /** A unit vector for each text, in order. */
  readonly vectors: readonly Float32Array[]
}

/** Turns texts into vectors of one space. */
export interface Embedder {
  /** The name by which a persona asks for it. */
  readonly model: string
  /**
   * How much nearness in this space counts beside the words of a question, from 0 to 1, see `rank`. A trained embedder's
   * judgement counts more than static word vectors'.
   */
  readonly trust: number
  /** The space of its vectors, or undefined before the first answer of a runner has told. */
  space(): EmbeddingSpace | undefined
  /** Throws `unavailable` where the runner does not answer. */
  embed(texts: readonly string[], role: TextRole, signal?: AbortSignal): Promise<Embeddings>
}

/** An embedding model as `GET /api/embeddings/models` lists it. */
export interface EmbeddingModel {
  readonly name: string
  readonly provider: 'builtin' | 'pulled' | 'ollama'
  readonly dimension?: number
  /** What it cannot do. */
  readonly note?: string
}

export interface EmbeddingModels {
  readonly models: readonly EmbeddingModel[]
  /** How to get a better model, where only the built-in one is there. */
  readonly instructions?: readonly string[]
}

/** The embedders there are on this machine. */
export interface Embedders {
  list(): Promise<EmbeddingModels>
  /**
   * The embedder of a persona's `embedding_model`, or the built-in one where it names none. Says nothing about whether the
   * model is there: asking it does.
   */
  embedder(model: string | undefined): Embedder
  /** Throws `invalid`, with the command that installs it, for a model that is not installed. */
  require(model: string): Promise<void>
}

/** The name of the embedder that is always there. */
export const builtinModel = 'builtin'
