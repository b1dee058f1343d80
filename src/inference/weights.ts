/** Weights of a file as values of a graph: widened to 32 bits where they are stored in 16, and multiplied as 8-bit integers where they were quantised. */
import { AppError } from '../errors.ts'
import { contributed, type Nodes, type Value } from './nodes.ts'
import type { TensorEntry, TensorFile } from './safetensors.ts'

/** Inputs are rounded to 8 bits too, block by block: the runtime's `accuracy_level` of that name. */
const integerAccuracy = 4

/** The suffix of a quantised weight's scales, float32 [out] or [out × blocks]. */
export const scaleSuffix = '.scale'

/** The tensors of a file as graph inputs. Quantised ones (I8, or U8 in blocks) serve `linear` alone. */
export function weightsOf(graph: Nodes, file: TensorFile) {
  return { hasWeight: (name: string) => file.tensors.has(name), weightShape, weight, linear }

  function stored(name: string): Pick<TensorEntry, 'shape' | 'dtype'> {
    const entry = file.tensors.get(name)
    if (!entry) throw new AppError('invalid', `${file.path} has no tensor ${name}`)
    return entry
  }

  /** Dimensions as stored by the model's authors; throws an AppError when there is no such tensor. */
  function weightShape(name: string): readonly number[] {
    const { shape: size, dtype } = stored(name)
    if (dtype === 'U8') return [size[0]!, size[1]! * size[2]!]
    return dtype === 'I8' ? size.toReversed() : size
  }

  /** The tensor as float32. */
  function weight(name: string): Value {
    const tensor = file.external(name)
    const entered = graph.external(tensor)
    return tensor.type === 'float32' ? entered : graph.node('Cast', [entered], { to: { int: 1 } })
  }

  /** x Wᵀ + b for x [rows, in] and W [out, in]. */
  function linear(x: Value, matrix: string, bias?: string): Value {
    const added = bias === undefined ? undefined : weight(bias)
    const { dtype, shape: size } = stored(matrix)
    if (dtype === 'U8') {
      const [outputs = 0, inputs = 0] = weightShape(matrix)
      const attributes = { K: inputs, N: outputs, bits: 8, block_size: size[2]!, accuracy_level: integerAccuracy }
      const made = graph.node(
        'MatMulNBits',
        [x, graph.external(file.external(matrix)), weight(matrix + scaleSuffix)],
        Object.fromEntries(Object.entries(attributes).map(([name, int]) => [name, { int }])),
        contributed,
      )
      return added === undefined ? made : graph.node('Add', [made, added])
    }
    if (dtype !== 'I8') return graph.node('Gemm', [x, weight(matrix), added], { transB: { int: 1 } })
    const inputs = [x, graph.external(file.external(matrix)), weight(matrix + scaleSuffix), undefined, added]
    return graph.node('DynamicQuantizeMatMul', inputs, {}, contributed)
  }
}
