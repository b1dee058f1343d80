import type { EmbeddingSpace } from './memory.ts'

/** Whether a text is stored or a query: some models embed them differently. */
export type TextRole = 'document' | 'query'

export interface Embeddings {
  readonly space: EmbeddingSpace
  /** A unit vector for each text, in order. */
  readonly vectors: readonly Float32Array[]
}

/** Turns texts into vectors of one space. */
export interface Embedder {
  /** Its name as a persona's `embedding_model`. */
  readonly model: string
  /** The weight of similarity in this space beside words, from 0 to 1, see `rank`: less for static word vectors. */
  readonly trust: number
  /** The languages that it knows, as ISO 639-1 codes; absent where any. In others its vectors count nothing beside words. */
  readonly languages?: readonly string[]
  /** The address that texts are sent to; absent for one that computes in this process. */
  readonly endpoint?: string
  /** The space of its vectors; undefined before a runner's first answer. */
  space(): EmbeddingSpace | undefined
  /** Throws `unavailable` where the runner does not answer. */
  embed(texts: readonly string[], role: TextRole, signal?: AbortSignal): Promise<Embeddings>
}

/** An embedding model as `GET /api/embeddings/models` lists it. */
export interface EmbeddingModel {
  readonly name: string
  readonly provider: 'builtin' | 'pulled' | 'ollama'
  readonly dimension?: number
  /** Its limitations. */
  readonly note?: string
}

export interface EmbeddingModels {
  readonly models: readonly EmbeddingModel[]
  /** How to install a better model, where only the built-in one is available. */
  readonly instructions?: readonly string[]
}

export interface Embedders {
  /** With `localOnly` a runner on another machine is not asked for its models. */
  list(localOnly?: boolean): Promise<EmbeddingModels>
  /**
   * The embedder of a persona's `embedding_model`, the built-in one by default. The model need not be installed: then `embed`
   * throws.
   */
  embedder(model: string | undefined): Embedder
  /** Throws `invalid`, with the command that installs it, for a model that is not installed. */
  require(model: string): Promise<void>
  /**
   * The rarity of an English word in general, from about 4 (work) to 11 (haiku): the logarithm of the share of WordNet's
   * synsets that are described with it. Undefined for an unknown word, and where the word vectors are missing.
   */
  rarity(word: string): number | undefined
}

/** The name of the embedder that is always available. */
export const builtinModel = 'builtin'
