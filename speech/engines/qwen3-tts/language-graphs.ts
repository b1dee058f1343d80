/** The graphs of the language model: the talker, the predictor of the other codes with its heads, and the rows of text. */
import { createGraph, createWeights, rmsNorm, silu, slice, type TensorFile } from '../../../src/inference/inference.ts'
import { runTransformer, type TransformerShape } from '../../blocks/transformer.ts'
import { tensorNames } from './geometry.ts'

export interface GraphOptions {
  /** Every layer's rows come out too, as `layer_N`. */
  readonly stages?: boolean
}

/**
 * Input `rows` [rows, width]. Outputs `hidden` [rows, width], behind the last norm, and `logits` [1, vocabulary] of the last
 * row's first code; attention as in `runTransformer`.
 */
export function buildTalker(file: TensorFile, shape: TransformerShape, options: GraphOptions = {}): Uint8Array {
  const graph = createGraph('talker')
  const weights = createWeights(graph, file)
  const layers = runTransformer(weights, shape, graph.input('rows', 'float32', ['rows', shape.width]))
  const hidden = rmsNorm(graph, layers.at(-1)!, shape.epsilon, weights.value('talker.model.norm.weight'))
  graph.output('hidden', hidden, 'float32', ['rows', shape.width])
  const logits = weights.linear(slice(graph, hidden, 0, -1), tensorNames.firstHead)
  graph.output('logits', logits, 'float32', [1, weights.shape(tensorNames.firstHead)[0]!])
  if (options.stages)
    for (const [layer, made] of layers.entries()) graph.output(`layer_${layer}`, made, 'float32', ['rows', shape.width])
  return graph.encode()
}

/**
 * Input `rows` [rows, talker width]. Output `hidden` [rows, width] for the heads; attention as in `runTransformer`. With
 * `stages` also `narrowed`, the rows as the layers get them.
 */
export function buildPredictor(
  file: TensorFile,
  shape: TransformerShape,
  talkerWidth: number,
  options: GraphOptions = {},
): Uint8Array {
  const graph = createGraph('code_predictor')
  const weights = createWeights(graph, file)
  const wide = graph.input('rows', 'float32', ['rows', talkerWidth])
  const { narrowing } = tensorNames
  // Where both widths are the same the file has no projection.
  const rows = weights.has(narrowing) ? weights.linear(wide, narrowing, narrowing.replace('weight', 'bias')) : wide
  const layers = runTransformer(weights, shape, rows)
  const norm = weights.value('talker.code_predictor.model.norm.weight')
  graph.output('hidden', rmsNorm(graph, layers.at(-1)!, shape.epsilon, norm), 'float32', ['rows', shape.width])
  if (options.stages) {
    const narrowed = graph.node('Identity', [rows])
    graph.output('narrowed', narrowed, 'float32', ['rows', shape.width])
    for (const [layer, made] of layers.entries()) graph.output(`layer_${layer}`, made, 'float32', ['rows', shape.width])
  }
  return graph.encode()
}

/** Input `hidden` [1, width]; output `logits` [1, codes] of code group `group`, from 1. */
export function buildHead(file: TensorFile, group: number): Uint8Array {
  const graph = createGraph('code_head')
  const weights = createWeights(graph, file)
  const [codes = 0, width = 0] = weights.shape(tensorNames.head(group))
  const hidden = graph.input('hidden', 'float32', [1, width])
  graph.output('logits', weights.linear(hidden, tensorNames.head(group)), 'float32', [1, codes])
  return graph.encode()
}

/** Input `embedded` [ids, text width], rows of the text table; output `rows` [ids, talker width]. */
export function buildTextProjection(file: TensorFile): Uint8Array {
  const graph = createGraph('text_projection')
  const weights = createWeights(graph, file)
  const part = (index: number) => `talker.text_projection.linear_fc${index}`
  const [, textWidth = 0] = weights.shape(`${part(1)}.weight`)
  const [width = 0] = weights.shape(`${part(2)}.weight`)
  const embedded = graph.input('embedded', 'float32', ['ids', textWidth])
  const inner = silu(graph, weights.linear(embedded, `${part(1)}.weight`, `${part(1)}.bias`))
  graph.output('rows', weights.linear(inner, `${part(2)}.weight`, `${part(2)}.bias`), 'float32', ['ids', width])
  return graph.encode()
}
