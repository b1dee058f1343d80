import type { SamplingOptions } from '../inference/inference.ts'
import type { PlainMessage } from './prompt.ts'

/** A conversation to answer; a field that is absent has the model's own default. */
export interface GenerationRequest {
  readonly messages: readonly PlainMessage[]
  readonly sampling: Partial<SamplingOptions>
  readonly maxTokens?: number | undefined
  readonly stop: readonly string[]
}

export interface GenerationEnd {
  readonly reason: 'stop' | 'length'
  readonly promptTokens: number
  readonly answerTokens: number
}

export interface ModelMethods {
  readonly open: {
    readonly input: {
      readonly kind: 'chat' | 'embedding'
      readonly name: string
      readonly folder: string
      readonly threads: number
    }
  }
  /** For a chat model; its items are the text, piece by piece. */
  readonly generate: { readonly input: GenerationRequest; readonly item: string; readonly result: GenerationEnd }
  /** For an embedding model. */
  readonly embed: { readonly input: readonly string[]; readonly result: readonly Float32Array[] }
}
