/** Other lengths for waits: milliseconds. The usual one of each stands where it is used. */
export interface Waits {
  /** The longest wait before the second try at a provider (`chat/attempts.ts`). */
  readonly retry?: number | undefined
  /** The age until which a runner's list of embedding models is used (`runners/embedder-ollama.ts`). */
  readonly embedderList?: number | undefined
  /** The rest of an embedding runner after a failure (`runners/embedder-ollama.ts`). */
  readonly embedderRest?: number | undefined
  /** The longest wait of a new memory for its vector (`personas/memory/memories.ts`). */
  readonly embedding?: number | undefined
  /** The pause before missing vectors are tried again (`personas/memory/reembedding.ts`). */
  readonly reembedding?: number | undefined
}
