import type { Device } from '../../../src/inference/session.ts'
import { type Decoder, openDecoderProcess as openProcess } from '../../blocks/frame-decoder.ts'
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

/** The codec's decoder in a process of its own, for latents of whole frames. */
export function openDecoderProcess(plan: DecoderPlan): Promise<Decoder<Float32Array>> {
  return openProcess({ beside: import.meta.url, name: './decoder-child' }, plan)
}
