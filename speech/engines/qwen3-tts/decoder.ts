/** The codec's decoder as the loop uses it: frames of codes in, samples out. */
import { join } from 'node:path'
import { openTensorFile, type TensorFile, weightsFolder } from '../../../src/inference/safetensors.ts'
import { openSession } from '../../../src/inference/session.ts'
import { type Decoder, frameDecoder, openDecoderProcess as openProcess } from '../../blocks/frame-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream } from '../../blocks/state-stream.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { buildCodecDecoder } from './codec-decoder.ts'
import type { CodecFile } from './configuration.ts'
import { decoderShape } from './layers.ts'

/** Which decoder to load. */
export interface DecoderPlan {
  /** The model's folder. */
  readonly folder: string
  /** Identity of the codec's file that the engine has checked. */
  readonly identity: string
}

/** The codec's weights and configuration lie in a folder of their own. */
export function openCodecFile(folder: string): Promise<TensorFile> {
  return openTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors'))
}

/** Loads the decoder into this process, for codes [frames × groups]. */
export async function loadDecoder(file: TensorFile, codec: CodecFile): Promise<Decoder<Int32Array>> {
  const shape = decoderShape(codec)
  const { model, states } = buildCodecDecoder(file, codec)
  const place = { name: 'codec_decoder', device: 'cpu', weightsFolder: weightsFolder(file), frugal: true } as const
  const session = await openSession(model, place)
  const rotary = createRotaryTable(shape.headSize, shape.period, 'power')
  const { sliding_window: window, num_quantizers: groups } = codec.decoder_config
  return {
    open() {
      const stream = createStream({ session, states, shape: cacheShape(shape, window), rotary })
      return frameDecoder(stream, async (codes: Int32Array) => {
        const frames = codes.length / groups
        const data = BigInt64Array.from(codes, BigInt)
        const { audio } = await stream.run({ codes: { type: 'int64', shape: [frames, groups], data } }, frames)
        return audio!.data as Float32Array
      })
    },
    close: () => session.close(),
  }
}

/** The same in a process of its own. */
export function openDecoderProcess(plan: DecoderPlan): Promise<Decoder<Int32Array>> {
  return openProcess({ beside: import.meta.url, name: './codec-child' }, plan)
}
