/** ECAPA-TDNN (Desplanques et al. 2020, arXiv:2005.07143): a vector of the voice from a spectrogram; signals are [1, channels, frames]. */
import type { Graph, Value } from '../../src/inference/inference.ts'

export interface EcapaShape {
  readonly prefix: string
  /** Channels, kernels and dilations of the first layer, the blocks and the aggregation. */
  readonly channels: readonly number[]
  readonly dilations: readonly number[]
  /** Into so many parts a block splits its channels (Gao et al. 2019, arXiv:1904.01169). */
  readonly scale: number
}

/** The vector [1, size] of a spectrogram float32 [1, bands, frames]. */
export function ecapa(graph: Graph, { prefix, channels, dilations, scale }: EcapaShape, mel: Value): Value {
  const stage = (part: string, value: Value) => graph.stage(part, value, 3)
  const blocks: Value[] = []
  let x = tdnn(`${prefix}.blocks.0`, mel, dilations[0]!)
  stage('block0', x)
  for (let block = 1; block < channels.length - 1; block++) {
    x = residual(block, x, dilations[block]!)
    stage(`block${block}`, x)
    blocks.push(x)
  }
  const joined = tdnn(`${prefix}.mfa`, graph.concat(1, ...blocks), dilations.at(-1)!)
  stage('mfa', joined)
  const statistics = attentiveStatistics(`${prefix}.asp`, joined)
  stage('asp', statistics)
  return graph.node('Squeeze', [convolve(`${prefix}.fc`, statistics, 1), graph.integers(2)])

  function residual(block: number, input: Value, dilation: number): Value {
    const name = `${prefix}.blocks.${block}`
    const first = tdnn(`${name}.tdnn1`, input, 1)
    const parts = res2net(`${name}.res2net_block`, first, dilation)
    stage(`block${block}_res2net`, parts)
    const excited = squeezeExcite(`${name}.se_block`, tdnn(`${name}.tdnn2`, parts, 1))
    stage(`block${block}_se`, excited)
    return graph.add(excited, input)
  }

  function res2net(name: string, input: Value, dilation: number): Value {
    const made: Value[] = []
    for (const [index, part] of graph.split(input, 1, scale).entries()) {
      const before = made.at(-1)
      // The first part passes unchanged, and the second is alone.
      const sum = index < 2 || before === undefined ? part : graph.add(part, before)
      made.push(index === 0 ? part : tdnn(`${name}.blocks.${index - 1}`, sum, dilation))
    }
    return graph.concat(1, ...made)
  }

  /** Hu et al. 2018, arXiv:1709.01507. */
  function squeezeExcite(name: string, input: Value): Value {
    const mean = graph.node('ReduceMean', [input, graph.integers(2)])
    const inner = graph.node('Relu', [convolve(`${name}.conv1`, mean, 1)])
    return graph.multiply(input, graph.node('Sigmoid', [convolve(`${name}.conv2`, inner, 1)]))
  }

  /** Mean and deviation over time, weighted by an attention that sees both unweighted ones: [1, 2 × channels, 1]. */
  function attentiveStatistics(name: string, input: Value): Value {
    const over = (value: Value) => graph.node('ReduceMean', [value, graph.integers(2)])
    const mean = over(input)
    const plain = deviation(over(squared(graph.node('Sub', [input, mean]))))
    const size = graph.node('Shape', [input])
    const context = graph.concat(1, input, graph.node('Expand', [mean, size]), graph.node('Expand', [plain, size]))
    const inner = graph.node('Tanh', [tdnn(`${name}.tdnn`, context, 1)])
    const attention = graph.node('Softmax', [convolve(`${name}.conv`, inner, 1)], { axis: { int: 2 } })
    const sum = (value: Value) => graph.node('ReduceSum', [graph.multiply(attention, value), graph.integers(2)])
    const weighted = sum(input)
    return graph.concat(1, weighted, deviation(sum(squared(graph.node('Sub', [input, weighted])))))
  }

  function squared(value: Value): Value {
    return graph.multiply(value, value)
  }

  function deviation(variance: Value): Value {
    return graph.node('Sqrt', [graph.node('Max', [variance, graph.scalar(1e-12)])])
  }

  function tdnn(name: string, input: Value, dilation: number): Value {
    return graph.node('Relu', [convolve(`${name}.conv`, input, dilation)])
  }

  /** Keeps the length: beyond the ends the signal is mirrored. */
  function convolve(name: string, input: Value, dilation: number): Value {
    const [, , kernel = 1] = graph.weightShape(`${name}.weight`)
    const reach = (kernel - 1) * dilation
    const before = Math.floor(reach / 2)
    const padded =
      reach === 0
        ? input
        : graph.node('Pad', [input, graph.integers(0, 0, before, 0, 0, reach - before)], { mode: { text: 'reflect' } })
    const inputs = [padded, graph.weight(`${name}.weight`), graph.weight(`${name}.bias`)]
    return graph.node('Conv', inputs, { dilations: { ints: [dilation] }, kernel_shape: { ints: [kernel] } })
  }
}
