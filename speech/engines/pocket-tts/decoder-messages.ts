import type { Device } from '../../../src/inference/session.ts'
import type { PlainError } from '../messages.ts'
import type { ConfigurationOverrides } from './configuration.ts'

/** What the engine's process and its decoder's process say to each other; plain data, sent by structured clone. */

/** Which decoder to load. */
export interface DecoderPlan {
  /** The model's folder. */
  readonly folder: string
  /** Which file the weights must be: what the engine itself has checked. */
  readonly identity: string
  readonly device: Device
  readonly overrides: ConfigurationOverrides
}

export type ToDecoder =
  | { readonly type: 'open'; readonly plan: DecoderPlan }
  | {
      readonly type: 'decode'
      readonly call: number
      /** One number for each signal decoder. */
      readonly stream: number
      /** True where the latents begin a signal. */
      readonly begins: boolean
      readonly latents: Float32Array
    }

export type FromDecoder =
  | { readonly type: 'ready' }
  | { readonly type: 'unusable'; readonly error: PlainError }
  | { readonly type: 'audio'; readonly call: number; readonly samples: Float32Array }
  | { readonly type: 'failed'; readonly call: number; readonly error: PlainError }
