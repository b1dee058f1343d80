/** The graphs of the language model: the backbone's step, the voice that it looks at, and the steps of the depth transformer. */
import { createGraph, type GraphOptions, partName, type TensorFile } from '../../../src/inference/inference.ts'
import { runTransformer, type TransformerShape } from '../../blocks/transformer.ts'
import { fused, tensorNames } from './tensors.ts'

/**
 * Inputs `audio` [rows, width], the sum of all rows that are no text, and `main` and `second` [rows, width], the rows of both
 * text streams or zeros. Outputs `hidden` [rows, width], behind the last norm, and `logits` [rows, text tokens]; attention as in
 * `runTransformer`.
 */
export function buildBackbone(file: TensorFile, shape: TransformerShape, options?: GraphOptions): Uint8Array {
  const graph = createGraph('backbone', file, options)
  const rows = (name: string) => graph.input(name, 'float32', ['rows', shape.width])
  const main = graph.linear(rows('main'), `${tensorNames.text}.out1.weight`)
  const second = graph.linear(rows('second'), `${tensorNames.text}.out2.weight`)
  const made = runTransformer(graph, shape, graph.add(rows('audio'), graph.add(main, second)))
  const norm = graph.reshape(graph.weight(tensorNames.lastNorm), -1)
  const hidden = graph.rmsNorm(made, shape.epsilon, norm)
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  const logits = graph.linear(hidden, tensorNames.textHead)
  graph.output('logits', logits, 'float32', ['rows', graph.weightShape(tensorNames.textHead)[0]!])
  return graph.encode()
}

/** From `rows` [memory, width] the `memory_keys_N` and `memory_values_N` [memory, heads, headSize] of each layer N. */
export function buildMemory(file: TensorFile, shape: TransformerShape, layer: number): Uint8Array {
  const graph = createGraph('memory', file)
  const rows = graph.input('rows', 'float32', ['memory', shape.width])
  for (const [name, part] of [
    ['keys', fused.key],
    ['values', fused.value],
  ] as const) {
    const matrix = partName(`${shape.prefix}.layers.${layer}.cross_attention.in_proj_weight`, part)
    const made = graph.reshape(graph.linear(rows, matrix), 0, -1, shape.headSize)
    graph.output(`memory_${name}_${layer}`, made, 'float32', ['memory', shape.heads, shape.headSize])
  }
  return graph.encode()
}

/**
 * One codebook with set `set`. Inputs `hidden` [1, backbone width], the backbone's output; `embedded` [1, size], the
 * input row of the codebook before it (for the first, of both text streams), and `spread` [width, size], the matrix
 * that widens it. Output `made` [1, width] for the codebook's head; attention as in `runTransformer`.
 */
export function buildDepth(file: TensorFile, shape: TransformerShape, set: number): Uint8Array {
  const graph = createGraph('depth', file)
  const [, wide = 0] = graph.weightShape(tensorNames.depthIn(set))
  const hidden = graph.linear(graph.input('hidden', 'float32', [1, wide]), tensorNames.depthIn(set))
  const embedded = graph.input('embedded', 'float32', [1, 'size'])
  const spread = graph.input('spread', 'float32', [shape.width, 'size'])
  const wider = graph.node('Gemm', [embedded, spread], { transB: { int: 1 } })
  const made = runTransformer(graph, shape, graph.add(hidden, wider))
  graph.output('made', made, 'float32', [1, shape.width])
  return graph.encode()
}

/** Input `made` [1, width]; output `logits` [1, codes] of codebook `book`. */
export function buildHead(file: TensorFile, book: number): Uint8Array {
  const graph = createGraph('head', file)
  const [codes = 0, width = 0] = graph.weightShape(tensorNames.head(book))
  const made = graph.input('made', 'float32', [1, width])
  graph.output('logits', graph.linear(made, tensorNames.head(book)), 'float32', [1, codes])
  return graph.encode()
}
