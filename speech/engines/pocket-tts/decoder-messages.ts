import type { Device } from '../../../src/inference/session.ts'
import type { ConfigurationOverrides } from './configuration.ts'

/** Which decoder to load. */
export interface DecoderPlan {
  /** The model's folder. */
  readonly folder: string
  /** Identity of the weights' file that the engine has checked. */
  readonly identity: string
  readonly device: Device
  readonly overrides: ConfigurationOverrides
}

/** The methods of a decoder's process. */
export interface DecoderMethods {
  readonly open: { readonly input: DecoderPlan }
  readonly decode: {
    readonly input: {
      /** One number for each signal decoder. */
      readonly stream: number
      /** True where the latents begin a signal. */
      readonly begins: boolean
      readonly latents: Float32Array
    }
    readonly result: Float32Array
  }
}
