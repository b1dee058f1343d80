import type { FailureCode } from '../../src/errors.ts'
import type { EngineCapabilities, SpeechRequest, VoiceSource } from './engine.ts'

/** What a server's process and its engine's process say to each other; plain data, sent by structured clone. */

export type ToEngine =
  | { readonly type: 'open'; readonly module: string; readonly options: Readonly<Record<string, unknown>> }
  | { readonly type: 'prepare'; readonly call: number; readonly key: string; readonly source: VoiceSource }
  | { readonly type: 'forget'; readonly key: string }
  | { readonly type: 'synthesize'; readonly call: number; readonly key: string; readonly request: PlainRequest }
  | { readonly type: 'cancel'; readonly call: number }

export type PlainRequest = Omit<SpeechRequest, 'voice'>

export type FromEngine =
  | {
      readonly type: 'ready'
      readonly id: string
      readonly sampleRate: number
      readonly capabilities: EngineCapabilities
    }
  | { readonly type: 'unusable'; readonly error: PlainError }
  | { readonly type: 'audio'; readonly call: number; readonly samples: Float32Array }
  | { readonly type: 'done'; readonly call: number }
  | { readonly type: 'failed'; readonly call: number; readonly error: PlainError }

/** An AppError without its class. */
export interface PlainError {
  readonly code: FailureCode
  readonly message: string
  readonly details: readonly string[]
  /** The text of what caused it, for the log only. */
  readonly cause?: string
}
