/**
 * SEANet, the convolutional half of the mimi codec (Zeghidour et al. 2021, arXiv:2107.03312): which modules a file holds,
 * and the graph that runs them. Kernels, strides and widths come from the shapes of the weights.
 */

import type { Graph, TensorEntry, Value } from '../../src/inference/inference.ts'
import { convolution, transposedConvolution } from './convolution.ts'

export interface SeanetModule {
  readonly kind: 'convolution' | 'transposed' | 'residual'
  /** The prefix of its tensors' names. */
  readonly name: string
  readonly stride: number
  /** Of a residual block: how many stand before it in its stage. */
  readonly block: number
}

export interface Seanet {
  readonly modules: readonly SeanetModule[]
  /** Strides of the re-sampling modules, in the order in which they run. */
  readonly ratios: readonly number[]
  /** Every tensor that belongs to it, with the shape it must have. */
  readonly expected: ReadonlyMap<string, readonly number[]>
  /** Channels going in and coming out. */
  readonly channels: readonly [number, number]
  /** Modules that should be there and are not. */
  readonly problems: readonly string[]
}

type Tensors = ReadonlyMap<string, Pick<TensorEntry, 'shape'>>

/**
 * The modules under `prefix` (`….model`): modules without weights, the activations, leave gaps in the numbering.
 * An encoder's inner convolutions shorten the signal, a decoder has transposed ones instead.
 */
export function findSeanet(tensors: Tensors, prefix: string): Seanet {
  const indices = moduleIndices(tensors, prefix)
  const modules: SeanetModule[] = []
  const expected = new Map<string, readonly number[]>()
  const problems: string[] = []
  const ends: number[] = []
  let channels = 0
  let residuals = 0
  let next = indices[0] ?? 0

  for (const index of indices) {
    const name = `${prefix}.${index}`
    const kind = kindOf(tensors, name)
    // An activation stands before every convolution but the first; residual blocks bring their own.
    if (modules.length > 0 && kind !== 'residual') next += 1
    if (next !== index) problems.push(`${prefix}.${next} is missing`)
    next = index + 1
    const outer = modules.length === 0 || index === indices.at(-1)
    residuals = kind === 'residual' ? residuals + 1 : 0
    channels = addModule(name, kind, outer)
  }
  const inner = modules.slice(1, -1).filter((module) => module.kind !== 'residual')
  const ratios = inner.map((module) => module.stride)
  return { modules, ratios, expected, channels: [ends[0] ?? 0, channels], problems }

  function addModule(name: string, kind: SeanetModule['kind'], outer: boolean): number {
    const part = { convolution: `${name}.conv`, transposed: `${name}.convtr`, residual: `${name}.block.1.conv` }[kind]
    const [first = 0, second = 0, kernel = 0] = tensors.get(`${part}.weight`)?.shape ?? []
    const [input, output] = kind === 'transposed' ? [first, second] : [second, first]
    if (ends.length === 0) ends.push(input)
    else if (input !== channels) problems.push(`${part}.weight takes ${input} channels and gets ${channels}`)
    expected.set(`${part}.weight`, [first, second, kernel])
    expected.set(`${part}.bias`, [output])
    if (kind === 'residual') {
      const last = `${name}.block.3.conv`
      expected.set(`${last}.weight`, [input, output, tensors.get(`${last}.weight`)?.shape[2] ?? 1])
      expected.set(`${last}.bias`, [input])
      modules.push({ kind, name, stride: 1, block: residuals - 1 })
      return input
    }
    // Re-sampling kernels are twice as long as their stride.
    modules.push({ kind, name, stride: outer ? 1 : kernel / 2, block: 0 })
    return output
  }
}

/**
 * Runs the modules over a signal [samples, channels]. With several residual blocks per stage, block j looks at samples that
 * lie `dilationBase` to the power of j apart. With `fillsLast` a last piece may be no multiple of the strides: it is filled up
 * before each convolution that needs it.
 */
export function runSeanet(
  graph: Graph,
  { modules }: Seanet,
  dilationBase: number,
  signal: Value,
  fillsLast = false,
): Value {
  let x = signal
  for (const [index, { kind, name, stride, block }] of modules.entries()) {
    if (kind === 'residual') {
      const inner = convolution(graph, `${name}.block.1.conv`, graph.elu(x), {
        dilation: dilationBase ** block,
      })
      x = graph.add(x, convolution(graph, `${name}.block.3.conv`, graph.elu(inner)))
    } else {
      const active = index === 0 ? x : graph.elu(x)
      x =
        kind === 'transposed'
          ? transposedConvolution(graph, `${name}.convtr`, active)
          : convolution(graph, `${name}.conv`, active, { stride, fillsLast })
    }
    graph.stage(`seanet${name.split('.').at(-1)}`, x)
  }
  return x
}

function moduleIndices(tensors: Tensors, prefix: string): number[] {
  const found = new Set<number>()
  for (const name of tensors.keys()) {
    const index = name.startsWith(`${prefix}.`) ? Number(name.slice(prefix.length + 1).split('.', 1)[0]) : Number.NaN
    if (Number.isInteger(index)) found.add(index)
  }
  return [...found].sort((a, b) => a - b)
}

function kindOf(tensors: Tensors, name: string): SeanetModule['kind'] {
  const has = (part: string) => tensors.has(`${name}.${part}.weight`) || tensors.has(`${name}.${part}.bias`)
  if (has('convtr')) return 'transposed'
  return has('conv') ? 'convolution' : 'residual'
}
