/** Blocks of decoders that make waves from latents, piece by piece as in `convolution.ts`; signals are [samples, channels]. */
import type { Graph, Value } from '../../src/inference/inference.ts'
import { convolution, transposedConvolution } from './convolution.ts'

/** x + sin²(x · e^alpha) / (e^beta + 1e-9), a periodic activation (Ziyin et al. 2020, arXiv:2006.08195; Lee et al. 2023, arXiv:2206.04658). */
export function snakeBeta(graph: Graph, name: string, x: Value): Value {
  const exponential = (part: string) => graph.node('Exp', [graph.weight(`${name}.${part}`)])
  const wave = graph.node('Sin', [graph.multiply(x, exponential('alpha'))])
  const size = graph.node('Reciprocal', [graph.add(exponential('beta'), graph.scalar(1e-9))])
  return graph.add(x, graph.multiply(graph.multiply(wave, wave), size))
}

/** One filter per channel: weights [channels, 1, kernel], causal. */
function depthwiseConvolution(graph: Graph, name: string, x: Value): Value {
  const [channels = 0, , kernel = 0] = graph.weightShape(`${name}.weight`)
  const filters = graph.transpose(graph.reshape(graph.weight(`${name}.weight`), channels, kernel), 1, 0)
  const extended = graph.extend(name, x, kernel - 1, channels)
  const taps = Array.from({ length: kernel }, (_, tap) => {
    const behind = kernel - 1 - tap
    const samples = graph.slice(extended, 0, tap, behind === 0 ? undefined : -behind)
    return graph.multiply(samples, graph.slice(filters, 0, tap, tap + 1))
  })
  return graph.add(
    taps.reduce((sum, tap) => graph.add(sum, tap)),
    graph.weight(`${name}.bias`),
  )
}

/** The epsilon that ConvNeXt's authors fixed. */
const convNextEpsilon = 1e-6

/** ConvNeXt (Liu et al. 2022, arXiv:2201.03545): filters per channel, then a scaled feed-forward part that is added. */
export function convNext(graph: Graph, name: string, x: Value): Value {
  const filtered = depthwiseConvolution(graph, `${name}.dwconv.conv`, x)
  const norm = (part: string) => graph.weight(`${name}.norm.${part}`)
  const normed = graph.layerNorm(filtered, convNextEpsilon, norm('weight'), norm('bias'))
  const inner = graph.gelu(graph.linear(normed, `${name}.pwconv1.weight`, `${name}.pwconv1.bias`), 'erf')
  const outer = graph.linear(inner, `${name}.pwconv2.weight`, `${name}.pwconv2.bias`)
  return graph.add(x, graph.multiply(outer, graph.weight(`${name}.gamma`)))
}

/** Weights [in, out, stride]: every input sample makes `stride` output samples, and no two overlap. */
export function spreadingConvolution(graph: Graph, name: string, x: Value): Value {
  const [channels = 0, outputs = 0, stride = 0] = graph.weightShape(`${name}.weight`)
  const matrix = graph.reshape(graph.transpose(graph.weight(`${name}.weight`), 2, 1, 0), stride * outputs, channels)
  const samples = graph.node('Gemm', [x, matrix, repeated(graph, graph.weight(`${name}.bias`), stride)], {
    transB: { int: 1 },
  })
  return graph.reshape(samples, -1, outputs)
}

function repeated(graph: Graph, bias: Value, times: number): Value {
  return graph.node('Tile', [bias, graph.integers(times)])
}

/** How far apart the samples lie that the residual units of a block look at. */
const unitDilations = [1, 3, 9] as const

/** Up-sampling by half the kernel of `NAME.1`, and three residual units; the names of its stages begin with `stage`. */
export function waveBlock(graph: Graph, name: string, x: Value, stage: string): Value {
  const active = snakeBeta(graph, `${name}.0`, x)
  graph.stage(`${stage}_snake`, active)
  let signal = transposedConvolution(graph, `${name}.1.conv`, active)
  graph.stage(`${stage}_transposed`, signal)
  for (const [index, dilation] of unitDilations.entries()) {
    const unit = `${name}.${index + 2}`
    const wide = snakeBeta(graph, `${unit}.act1`, signal)
    const inner = convolution(graph, `${unit}.conv1.conv`, wide, { dilation })
    const narrow = snakeBeta(graph, `${unit}.act2`, inner)
    signal = graph.add(signal, convolution(graph, `${unit}.conv2.conv`, narrow))
    graph.stage(`${stage}_unit_dilation${dilation}`, signal)
  }
  return signal
}
