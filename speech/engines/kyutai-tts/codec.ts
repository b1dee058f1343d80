/** The codec's decoder as the loop uses it: codes of whole frames in, samples out. */
import { join } from 'node:path'
import {
  add,
  createGraph,
  createWeights,
  openTensorFile,
  type TensorFile,
  type Value,
} from '../../../src/inference/inference.ts'
import { convolve, createStreamStates, depthwiseTransposedConvolution } from '../../blocks/convolution.ts'
import type { Decoder } from '../../blocks/frame-decoder.ts'
import type { StreamingGraph } from '../../blocks/mimi-decoder.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { sumOfEntries } from '../../blocks/residual-vectors.ts'
import { runSeanet } from '../../blocks/seanet.ts'
import type { Stream } from '../../blocks/state-stream.ts'
import { type CodecShape, cacheShape, kyutaiLayers, runTransformer } from '../../blocks/transformer.ts'
import { type DecoderPlan, type DecoderSource, feedCodes, loadCodec } from '../neural/decoder.ts'
import { type KyutaiConfiguration, readConfiguration } from './configuration.ts'
import { type CodecGeometry, readCodecGeometry } from './geometry.ts'
import type { GraphOptions } from './graphs.ts'
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

/**
 * Input `codes` int64 [frames, books]; output `audio` [samples, 1], not bound to [-1, 1]. Attention as in `runTransformer`, for
 * frames × stride rows. With `stages` also `latent`, `upsample` and `transformer` [rows, width].
 */
function buildCodecDecoder(
  file: TensorFile,
  { seanet }: CodecGeometry,
  shape: CodecShape,
  books: number,
  options: GraphOptions = {},
): StreamingGraph {
  const graph = createGraph('codec_decoder')
  const weights = createWeights(graph, file)
  const states = createStreamStates(graph)
  const codes = graph.input('codes', 'int64', ['frames', books])
  const { first, rest } = codecBooks(books)
  const semantic = convolve(weights, codecProjections.first, sumOfEntries(weights, first, codes, 0))
  const latent =
    rest.length === 0
      ? semantic
      : add(graph, semantic, convolve(weights, codecProjections.rest, sumOfEntries(weights, rest, codes, 1)))
  const upsample = depthwiseTransposedConvolution(weights, states, upsampling, latent)
  const transformer = runTransformer(weights, shape, upsample).at(-1)!
  const audio = runSeanet(weights, states, seanet, shape.dilationBase, transformer)
  graph.output('audio', audio, 'float32', ['samples', 1])
  if (options.stages) for (const [name, value] of Object.entries({ latent, upsample, transformer })) stage(name, value)
  return { model: graph.encode(), states: states.kept }

  function stage(name: string, value: Value): void {
    graph.output(name, graph.node('Identity', [value]), 'float32', [`${name}_rows`, shape.width])
  }
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
  return loadCodec({
    file,
    graph: buildCodecDecoder(file, geometry, shape, books, options),
    options: { name: 'codec_decoder', frugal: true },
    shape: cacheShape(shape, configuration.codec.transformer.context),
    rotary: createRotaryTable(shape.headSize, shape.period),
    rowsTogether: options.window === 'row' ? 1 : geometry.stride,
    feed: feedCodes(books, geometry.stride),
  })
}

/** The decoder by the model's folder. */
export const decoderSource: DecoderSource<KyutaiDecoderPlan, Int32Array> = {
  engine: 'kyutai-tts',
  openFile: async ({ folder }) => openCodecFile(folder, await readConfiguration(folder)),
  async load(file, { folder, books }) {
    const configuration = await readConfiguration(folder)
    return loadDecoder(file, readCodecGeometry(file, configuration), configuration, books)
  },
}
