/** The graphs of the language model: the talker, the predictor of the other codes with its heads, and the rows of text. */
import { createGraph, type TensorFile } from '../../../src/inference/inference.ts'
import { runTransformer, type TransformerShape } from '../../blocks/transformer.ts'
import { tensorNames } from './geometry.ts'

/**
 * Input `rows` [rows, width]. Outputs `hidden` [rows, width], behind the last norm, and `logits` [1, vocabulary] of the last
 * row's first code; attention as in `runTransformer`.
 */
export function buildTalker(file: TensorFile, shape: TransformerShape): Uint8Array {
  const graph = createGraph('talker', file)
  const made = runTransformer(graph, shape, graph.input('rows', 'float32', ['rows', shape.width]))
  const hidden = graph.rmsNorm(made, shape.epsilon, graph.weight('talker.model.norm.weight'))
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  const logits = graph.linear(graph.slice(hidden, 0, -1), tensorNames.firstHead)
  graph.output('logits', logits, 'float32', [1, graph.weightShape(tensorNames.firstHead)[0]!])
  return graph.encode()
}

/**
 * Input `rows` [rows, talker width]. Output `hidden` [rows, width] for the heads; attention as in `runTransformer`.
 */
export function buildPredictor(file: TensorFile, shape: TransformerShape, talkerWidth: number): Uint8Array {
  const graph = createGraph('code_predictor', file)
  const wide = graph.input('rows', 'float32', ['rows', talkerWidth])
  const { narrowing } = tensorNames
  // Where both widths are the same the file has no projection.
  const rows = graph.hasWeight(narrowing) ? graph.linear(wide, narrowing, narrowing.replace('weight', 'bias')) : wide
  const made = runTransformer(graph, shape, rows)
  const norm = graph.weight('talker.code_predictor.model.norm.weight')
  graph.output('hidden', graph.rmsNorm(made, shape.epsilon, norm), 'float32', ['rows', shape.width])
  return graph.encode()
}

/** Input `hidden` [1, width]; output `logits` [1, codes] of code group `group`, from 1. */
export function buildHead(file: TensorFile, group: number): Uint8Array {
  const graph = createGraph('code_head', file)
  const [codes = 0, width = 0] = graph.weightShape(tensorNames.head(group))
  const hidden = graph.input('hidden', 'float32', [1, width])
  graph.output('logits', graph.linear(hidden, tensorNames.head(group)), 'float32', [1, codes])
  return graph.encode()
}

/** Input `embedded` [ids, text width], rows of the text table; output `rows` [ids, talker width]. */
export function buildTextProjection(file: TensorFile): Uint8Array {
  const graph = createGraph('text_projection', file)
  const part = (index: number) => `talker.text_projection.linear_fc${index}`
  const [, textWidth = 0] = graph.weightShape(`${part(1)}.weight`)
  const [width = 0] = graph.weightShape(`${part(2)}.weight`)
  const embedded = graph.input('embedded', 'float32', ['ids', textWidth])
  const inner = graph.silu(graph.linear(embedded, `${part(1)}.weight`, `${part(1)}.bias`))
  graph.output('rows', graph.linear(inner, `${part(2)}.weight`, `${part(2)}.bias`), 'float32', ['ids', width])
  return graph.encode()
}
