/** The pre-norm transformer of language models and of both halves of the mimi codec. */

import type { Value } from '../../src/inference/graph.ts'
import { add, type GeluForm, gelu, layerNorm, multiply, split } from '../../src/inference/operators.ts'
import type { Weights } from '../../src/inference/weights.ts'
import { type AttentionInputs, attend, attentionInputs, type HeadShape, newRows, pastRows } from './attention.ts'
import type { CacheShape } from './key-value-cache.ts'

/** The sizes that the weights tell. */
export interface TransformerSize {
  /** The prefix of its tensors' names. */
  readonly prefix: string
  readonly width: number
  readonly layers: number
  readonly feedForward: number
}

/** The settings that a model's configuration tells: heads, the period of the rotary positions, the epsilon of its norms. */
export interface AttentionSetting extends HeadShape {
  readonly period: number
  readonly epsilon: number
}

export interface TransformerShape extends TransformerSize, AttentionSetting {
  readonly gelu: GeluForm
}

/** A half of the codec: its transformer, and the setting of its convolutions that their weights do not tell. */
export interface CodecShape extends TransformerShape {
  readonly dilationBase: number
}

/** The cache that holds the rows of such a transformer. */
export function cacheShape({ layers, heads, headSize }: TransformerShape, context?: number): CacheShape {
  return { layers, heads, headSize, ...(context !== undefined && { context }) }
}

/**
 * Adds all layers for rows [rows, width] and declares the inputs and outputs of attention: the inputs `mask`, `cosines`, `sines` and,
 * per layer N, `past_keys_N`, `past_values_N`, and the outputs `keys_N`, `values_N`. Returns the rows of every layer.
 */
export function runTransformer(weights: Weights, shape: TransformerShape, rows: Value): Value[] {
  const { graph } = weights
  const pasts = Array.from({ length: shape.layers }, (_, layer) => pastRows(graph, layer, shape))
  const inputs = attentionInputs(graph, shape, rows, pasts[0]!.keys)
  const made: Value[] = []
  for (const [layer, past] of pasts.entries()) {
    const name = `${shape.prefix}.layers.${layer}`
    const attended = attentionBlock(name, made.at(-1) ?? rows, layer, past)
    made.push(add(graph, attended, scaled(`${name}.layer_scale_2`, feedForward(name, attended))))
  }
  return made

  function attentionBlock(name: string, x: Value, layer: number, past: ReturnType<typeof pastRows>): Value {
    const projected = weights.linear(norm(`${name}.norm1`, x), `${name}.self_attn.in_proj.weight`)
    const [query, key, value] = split(graph, projected, 1, 3)
    const result = attend(graph, shape, inputs satisfies AttentionInputs, past, {
      query: query!,
      key: key!,
      value: value!,
    })
    newRows(graph, layer, shape, result)
    const output = weights.linear(result.mixed, `${name}.self_attn.out_proj.weight`)
    return add(graph, x, scaled(`${name}.layer_scale_1`, output))
  }

  function feedForward(name: string, x: Value): Value {
    const inner = gelu(graph, weights.linear(norm(`${name}.norm2`, x), `${name}.linear1.weight`), shape.gelu)
    return weights.linear(inner, `${name}.linear2.weight`)
  }

  function norm(name: string, x: Value): Value {
    return layerNorm(graph, x, shape.epsilon, weights.value(`${name}.weight`), weights.value(`${name}.bias`))
  }

  /** Only the codec's layers have a scale. */
  function scaled(name: string, x: Value): Value {
    return weights.has(`${name}.scale`) ? multiply(graph, x, weights.value(`${name}.scale`)) : x
  }
}
