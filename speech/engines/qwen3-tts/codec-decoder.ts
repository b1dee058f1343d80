/** The half of the codec that makes samples from codes, any number of frames per call: every stage is causal. */
import {
  createGraph,
  type GraphOptions,
  type StreamingGraph,
  type TensorFile,
  type Value,
} from '../../../src/inference/inference.ts'
import { convolution } from '../../blocks/convolution.ts'
import { latentsOfCodes } from '../../blocks/residual-vectors.ts'
import { runTransformer } from '../../blocks/transformer.ts'
import { convNext, snakeBeta, spreadingConvolution, waveBlock } from '../../blocks/wave-blocks.ts'
import type { Codec } from '../neural/codec.ts'
import type { CodecFile } from './configuration.ts'
import { decoderBooks } from './geometry.ts'
import { decoderShape } from './layers.ts'

/** The decoder of a codec's file, for codes [frames × groups]. */
export function codecOf(file: TensorFile, codec: CodecFile): Codec {
  const { path, identity } = file
  const { sliding_window: context, num_quantizers: numbers } = codec.decoder_config
  return {
    ...{ path, identity, numbers, stride: 1, context, transformer: decoderShape(codec), frequencies: 'power' },
    graph: buildCodecDecoder(file, codec),
    session: { name: 'codec_decoder', frugal: true },
  }
}

/**
 * Input `codes` int64 [frames, groups]; output `audio` [samples, 1], not bound to [-1, 1]. Attention as in `runTransformer`,
 * one row a frame. With `stages` every value on the way is an output, [rows, channels].
 */
export function buildCodecDecoder(file: TensorFile, codec: CodecFile, options?: GraphOptions): StreamingGraph {
  const { decoder_config: decoder } = codec
  const graph = createGraph('codec_decoder', file, options)
  const quantized = latentsOfCodes(graph, decoderBooks(decoder.num_quantizers))
  graph.stage('quantized', quantized)
  const before = convolution(graph, 'decoder.pre_conv.conv', quantized)
  graph.stage('pre_conv', before)
  let signal = transform(before)
  for (const index of decoder.upsampling_ratios.keys()) {
    const spread = spreadingConvolution(graph, `decoder.upsample.${index}.0.conv`, signal)
    graph.stage(`upsample${index}_transposed`, spread)
    signal = convNext(graph, `decoder.upsample.${index}.1`, spread)
    graph.stage(`upsample${index}`, signal)
  }
  graph.output('audio', wave(signal), 'float32', ['samples', 1])
  return graph.encodeStreaming()

  function transform(x: Value): Value {
    const name = 'decoder.pre_transformer'
    const shape = decoderShape(codec)
    const linear = (value: Value, part: string) => graph.linear(value, `${name}.${part}.weight`, `${name}.${part}.bias`)
    const made = runTransformer(graph, shape, linear(x, 'input_proj'), 'transformer_layer')
    const normed = graph.rmsNorm(made, shape.epsilon, graph.weight(`${name}.norm.weight`))
    const rows = linear(normed, 'output_proj')
    graph.stage('transformer', rows)
    return rows
  }

  function wave(x: Value): Value {
    let made = convolution(graph, 'decoder.decoder.0.conv', x)
    graph.stage('decoder0', made)
    const last = decoder.upsample_rates.length + 1
    for (let block = 1; block < last; block++) {
      made = waveBlock(graph, `decoder.decoder.${block}.block`, made, `decoder${block}`)
      graph.stage(`decoder${block}`, made)
    }
    const active = snakeBeta(graph, `decoder.decoder.${last}`, made)
    return convolution(graph, `decoder.decoder.${last + 1}.conv`, active)
  }
}
