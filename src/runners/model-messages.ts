import type { FailureCode } from '../errors.ts'
import type { SamplingOptions } from '../inference/sampling.ts'
import type { PlainMessage } from './prompt.ts'

/** What is said between aichat and the process in which a model computes. */

/** A conversation to answer; what is left out is the model's own default. */
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

export type ToModel =
  | {
      readonly type: 'open'
      readonly kind: 'chat' | 'embedding'
      readonly name: string
      readonly folder: string
      readonly threads: number
    }
  | { readonly type: 'generate'; readonly call: number; readonly request: GenerationRequest }
  | { readonly type: 'embed'; readonly call: number; readonly texts: readonly string[] }
  | { readonly type: 'cancel'; readonly call: number }

export type FromModel =
  | { readonly type: 'ready' }
  | { readonly type: 'unusable'; readonly error: PlainError }
  | { readonly type: 'text'; readonly call: number; readonly text: string }
  | { readonly type: 'generated'; readonly call: number; readonly end: GenerationEnd }
  | { readonly type: 'embedded'; readonly call: number; readonly vectors: readonly Float32Array[] }
  | { readonly type: 'failed'; readonly call: number; readonly error: PlainError }

/** An AppError on its way between processes. */
export interface PlainError {
  readonly code: FailureCode
  readonly message: string
  readonly details: readonly string[]
}
