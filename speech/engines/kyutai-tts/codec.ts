/** The codec's decoder: codes of whole frames in, samples out. */
import { join } from 'node:path'
import {
  type Graph,
  type GraphOptions,
  openTensorFile,
  type TensorFile,
  type Value,
} from '../../../src/inference/inference.ts'
import { convolve } from '../../blocks/convolution.ts'
import { buildMimiDecoder } from '../../blocks/mimi-decoder.ts'
import { sumOfEntries } from '../../blocks/residual-vectors.ts'
import { type CodecShape, kyutaiLayers } from '../../blocks/transformer.ts'
import type { Codec } from '../neural/codec.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import type { CodecGeometry } from './geometry.ts'
import { codecBooks, codecFile, codecProjections, upsampling } from './tensors.ts'

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

/** The decoder of a codec's file, for codes [frames × books]. */
export function codecOf(
  file: TensorFile,
  geometry: CodecGeometry,
  configuration: KyutaiConfiguration,
  books: number,
  options: GraphOptions & { readonly window?: CodecWindow } = {},
): Codec {
  const { path, identity } = file
  const { seanet, stride } = geometry
  const shape = codecShape(geometry, configuration)
  return {
    path,
    identity,
    graph: buildMimiDecoder(file, { seanet, shape, upsample: upsampling }, options, (graph) => latentsOf(graph, books)),
    session: { name: 'codec_decoder', frugal: true },
    transformer: shape,
    context: configuration.codec.transformer.context,
    rowsTogether: options.window === 'row' ? 1 : stride,
    numbers: books,
    stride,
  }
}
