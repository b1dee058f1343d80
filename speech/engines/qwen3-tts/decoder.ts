/** The codec's decoder as the loop uses it: frames of codes in, samples out. */
import { join } from 'node:path'
import { openTensorFile, type TensorFile } from '../../../src/inference/inference.ts'
import type { Decoder } from '../../blocks/frame-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { type DecoderSource, feedCodes, loadCodec } from '../neural/decoder.ts'
import type { DecoderPlan } from '../neural/decoder-process.ts'
import { buildCodecDecoder } from './codec-decoder.ts'
import { type CodecFile, readConfiguration } from './configuration.ts'
import { checkCodecFile } from './geometry.ts'
import { decoderShape } from './layers.ts'

/** The codec's weights and configuration are in a folder of their own. */
export function openCodecFile(folder: string): Promise<TensorFile> {
  return openTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors'))
}

/** Loads the decoder into this process, for codes [frames × groups]. */
export function loadDecoder(file: TensorFile, codec: CodecFile): Promise<Decoder<Int32Array>> {
  const shape = decoderShape(codec)
  const { sliding_window: window, num_quantizers: groups } = codec.decoder_config
  return loadCodec({
    file,
    graph: buildCodecDecoder(file, codec),
    options: { name: 'codec_decoder', frugal: true },
    shape: cacheShape(shape, window),
    rotary: createRotaryTable(shape.headSize, shape.period, 'power'),
    feed: feedCodes(groups, 1),
  })
}

/** The decoder by the model's folder. */
export const decoderSource: DecoderSource<DecoderPlan & { readonly configuration?: string }, Int32Array> = {
  module: { beside: import.meta.url, name: './qwen-decoder-child' },
  openFile: ({ folder }) => openCodecFile(folder),
  async load(file, { folder, configuration }) {
    const { codec } = await readConfiguration(folder, configuration)
    checkCodecFile(file, codec, false)
    return loadDecoder(file, codec)
  },
}
