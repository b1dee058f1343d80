/** The codec's decoder as the loop uses it: codes of whole frames in, samples out. */
import { join } from 'node:path'
import {
  type Graph,
  type GraphOptions,
  openTensorFile,
  type TensorFile,
  type Value,
} from '../../../src/inference/inference.ts'
import { convolve } from '../../blocks/convolution.ts'
import type { Decoder } from '../../blocks/frame-decoder.ts'
import { buildMimiDecoder } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { sumOfEntries } from '../../blocks/residual-vectors.ts'
import type { Stream } from '../../blocks/state-stream.ts'
import { type CodecShape, cacheShape, kyutaiLayers } from '../../blocks/transformer.ts'
import { type DecoderSource, feedCodes, loadCodec } from '../neural/decoder.ts'
import type { DecoderPlan } from '../neural/decoder-process.ts'
import { type KyutaiConfiguration, readConfiguration } from './configuration.ts'
import { type CodecGeometry, readCodecGeometry } from './geometry.ts'
import { codecBooks, codecFile, codecProjections, upsampling } from './tensors.ts'

/** Which decoder to load. */
export interface KyutaiDecoderPlan extends DecoderPlan {
  /** Codebooks of a frame. */
  readonly books: number
}

/** Opens the codec's file in the blocks' spelling. */
export async function openCodecFile(folder: string, { model }: KyutaiConfiguration): Promise<TensorFile> {
  return codecFile(await openTensorFile(join(folder, model.mimi_name)))
}

/** The transformer of the codec: sizes from the weights, the rest from the configuration. */
export function codecShape({ transformer }: CodecGeometry, { codec }: KyutaiConfiguration): CodecShape {
  const { num_heads: heads, max_period: period } = codec.transformer
  return {
    ...transformer,
    ...kyutaiLayers('erf'),
    heads,
    headSize: transformer.width / heads,
    period,
    epsilon: 1e-5,
    dilationBase: codec.seanet.dilation_base,
  }
}

/** The latents of the codes of whole frames: input `codes` int64 [frames, books]. */
function latentsOf(graph: Graph, books: number): Value {
  const codes = graph.input('codes', 'int64', ['frames', books])
  const { first, rest } = codecBooks(books)
  const semantic = convolve(graph, codecProjections.first, sumOfEntries(graph, first, codes, 0))
  if (rest.length === 0) return semantic
  const acoustic = convolve(graph, codecProjections.rest, sumOfEntries(graph, rest, codes, 1))
  return graph.add(semantic, acoustic)
}

/** How positions of the codec's transformer see each other: as the authors' program that decodes frame by frame, or in one call. */
export type CodecWindow = 'frame' | 'row'

/** Loads the decoder into this process, for codes [frames × books]. */
export async function loadDecoder(
  file: TensorFile,
  geometry: CodecGeometry,
  configuration: KyutaiConfiguration,
  books: number,
  options: GraphOptions & { readonly window?: CodecWindow } = {},
): Promise<Decoder<Int32Array> & { openStream(): Stream }> {
  const shape = codecShape(geometry, configuration)
  const decoder = { name: 'codec_decoder', seanet: geometry.seanet, shape, upsample: upsampling, stage: 'latent' }
  return loadCodec({
    file,
    graph: buildMimiDecoder(file, { ...decoder, latents: (graph) => latentsOf(graph, books) }, options),
    options: { name: 'codec_decoder', frugal: true },
    shape: cacheShape(shape, configuration.codec.transformer.context),
    rotary: createRotaryTable(shape.headSize, shape.period),
    rowsTogether: options.window === 'row' ? 1 : geometry.stride,
    feed: feedCodes(books, geometry.stride),
  })
}

/** The decoder by the model's folder. */
export const decoderSource: DecoderSource<KyutaiDecoderPlan, Int32Array> = {
  module: { beside: import.meta.url, name: './kyutai-decoder-child' },
  openFile: async ({ folder }) => openCodecFile(folder, await readConfiguration(folder)),
  async load(file, { folder, books }) {
    const configuration = await readConfiguration(folder)
    return loadDecoder(file, readCodecGeometry(file, configuration), configuration, books)
  },
}
