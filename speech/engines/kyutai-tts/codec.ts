/** The codec's decoder: codes of whole frames in, samples out. */
import { join } from 'node:path'
import { type GraphOptions, openTensorFile, type TensorFile } from '../../../src/inference/inference.ts'
import { buildMimiDecoder } from '../../blocks/mimi.ts'
import { latentsOfCodes } from '../../blocks/residual-vectors.ts'
import { type CodecShape, kyutaiLayers } from '../../blocks/transformer.ts'
import type { Codec } from '../neural/codec.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import type { CodecGeometry } from './geometry.ts'
import { codecFile, quantizerBooks, upsampling } from './tensors.ts'

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
    graph: buildMimiDecoder(file, { seanet, shape, upsample: upsampling }, options, (graph) =>
      latentsOfCodes(graph, quantizerBooks(books)),
    ),
    session: { name: 'codec_decoder', frugal: true },
    transformer: shape,
    context: configuration.codec.transformer.context,
    rowsTogether: options.window === 'row' ? 1 : stride,
    numbers: books,
    stride,
  }
}
