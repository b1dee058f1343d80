/** Weights of a file as values of a graph: widened to 32 bits where they are stored in 16, and multiplied as 8-bit integers where they were quantised. */
import { AppError } from '../errors.ts'
import { contributed, type Graph, type Value } from './graph.ts'
import type { TensorFile } from './safetensors.ts'

/** The tensors of one file, entered into one graph. */
export interface Weights {
  readonly graph: Graph
  has(name: string): boolean
  /** Dimensions as stored by the model's authors; throws an AppError when there is no such tensor. */
  shape(name: string): readonly number[]
  /** The tensor as float32. */
  value(name: string): Value
  /** x Wᵀ + b for x [rows, in] and W [out, in]. */
  linear(x: Value, weight: string, bias?: string): Value
}

/** The suffix of a quantised weight's scales, float32 [out]. */
export const scaleSuffix = '.scale'

/** The weights of `file` for `graph`. Quantised ones (I8, stored [in, out]) can only be used through `linear`. */
export function createWeights(graph: Graph, file: TensorFile): Weights {
  return { graph, has: (name) => file.tensors.has(name), shape, value, linear }

  function stored(name: string): { shape: readonly number[]; quantised: boolean } {
    const entry = file.tensors.get(name)
    if (!entry) throw new AppError('invalid', `${file.path} has no tensor ${name}`)
    return { shape: entry.shape, quantised: entry.dtype === 'I8' }
  }

  function shape(name: string): readonly number[] {
    const entry = stored(name)
    return entry.quantised ? entry.shape.toReversed() : entry.shape
  }

  function value(name: string): Value {
    const tensor = file.external(name)
    const entered = graph.external(tensor)
    return tensor.type === 'float32' ? entered : graph.node('Cast', [entered], { to: { int: 1 } })
  }

  function linear(x: Value, weight: string, bias?: string): Value {
    const added = bias === undefined ? undefined : value(bias)
    if (!stored(weight).quantised) return graph.node('Gemm', [x, value(weight), added], { transB: { int: 1 } })
    const inputs = [x, graph.external(file.external(weight)), value(weight + scaleSuffix), undefined, added]
    return graph.node('DynamicQuantizeMatMul', inputs, {}, contributed)
  }
}
