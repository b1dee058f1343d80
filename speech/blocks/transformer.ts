/**
 * The pre-norm transformer of language models and codecs, built by a recipe: which norm, which projections, which positions,
 * which feed-forward. Parts that a recipe does not name are left out.
 */

import type { GeluForm, Graph, Value } from '../../src/inference/inference.ts'
import {
  type AttentionShape,
  attend,
  attendMemory,
  attentionInputs,
  keptHeads,
  newRows,
  type PastRows,
  pastRows,
} from './attention.ts'
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
export interface AttentionSetting extends AttentionShape {
  readonly period: number
  readonly epsilon: number
}

/**
 * The tensors of a layer, by their names behind `PREFIX.layers.N.`. A bias is added to a projection or norm where the file
 * has one of the same name, with `bias` instead of `weight` at its end.
 */
export interface LayerNames {
  /** Weights of the norm before attention. */
  readonly attentionNorm: string
  /** One matrix with the rows of query, key and value one behind the other, or one for each. */
  readonly projections: string | { readonly query: string; readonly key: string; readonly value: string }
  /** Root-mean-square norms of each head's queries and keys, before they are rotated: [headSize]. */
  readonly queryNorm?: string
  readonly keyNorm?: string
  readonly output: string
  /** Factors [width] that scale the output of attention. */
  readonly attentionScale?: string
  /** Attention to a memory, behind a LayerNorm of its own. */
  readonly cross?: { readonly norm: string; readonly epsilon: number; readonly query: string; readonly output: string }
  /** Weights of the norm before the feed-forward part. */
  readonly feedForwardNorm: string
  /** The matrix to the inner width; with `gated: 'fused'` the gate's rows come first in it. */
  readonly up: string
  /** The activated gate is multiplied with `up` (Shazeer 2020, arXiv:2002.05202): a matrix of its own, or the first half of `up`. */
  readonly gate?: string | { readonly fused: true }
  readonly down: string
  readonly feedForwardScale?: string
}

/** The differences between the layers of model families. */
export interface LayerRecipe {
  readonly norm: 'layer' | 'rms'
  readonly activation: GeluForm | 'silu'
  readonly names: LayerNames
}

export interface TransformerShape extends TransformerSize, AttentionSetting, LayerRecipe {}

/** The layers of pocket-tts and of the mimi codec in its authors' naming. */
export function kyutaiLayers(activation: GeluForm): LayerRecipe {
  return {
    norm: 'layer',
    activation,
    names: {
      attentionNorm: 'norm1.weight',
      projections: 'self_attn.in_proj.weight',
      output: 'self_attn.out_proj.weight',
      attentionScale: 'layer_scale_1.scale',
      feedForwardNorm: 'norm2.weight',
      up: 'linear1.weight',
      down: 'linear2.weight',
      feedForwardScale: 'layer_scale_2.scale',
    },
  }
}

/** A half of the codec: its transformer, and the setting of its convolutions that their weights do not tell. */
export interface CodecShape extends TransformerShape {
  readonly dilationBase: number
}

/** The cache that holds the rows of such a transformer. */
export function cacheShape(shape: AttentionShape & Pick<TransformerSize, 'layers'>, context?: number): CacheShape {
  return { layers: shape.layers, ...keptHeads(shape), ...(context !== undefined && { context }) }
}

/**
 * Adds all layers for rows [rows, width] and declares the inputs and outputs of attention: the inputs `mask`, with rotation
 * `cosines` and `sines`, and, per layer N, `past_keys_N`, `past_values_N` and with a memory `memory_keys_N`, `memory_values_N`; and the
 * outputs `keys_N`, `values_N`. Returns the last layer's rows; every layer's are a stage, named `stage` and its number.
 */
export function runTransformer(graph: Graph, shape: TransformerShape, rows: Value, stage = 'layer_'): Value {
  const { names } = shape
  const pasts = Array.from({ length: shape.layers }, (_, layer) => pastRows(graph, layer, shape))
  const inputs = attentionInputs(graph, shape, rows, pasts[0]!.keys)
  let made = rows
  for (const [layer, past] of pasts.entries()) {
    const prefix = `${shape.prefix}.layers.${layer}.`
    const attended = selfAttention(prefix, made, layer, past)
    const informed = names.cross ? crossAttention(prefix, attended, layer, names.cross) : attended
    made = graph.add(informed, scaled(prefix, names.feedForwardScale, feedForward(prefix, informed)))
    graph.stage(`${stage}${layer}`, made)
  }
  return made

  function selfAttention(prefix: string, x: Value, layer: number, past: PastRows): Value {
    const { query, key, value } = projected(prefix, norm(prefix + names.attentionNorm, x))
    const result = attend(graph, shape, inputs, past, {
      query: normedHeads(prefix, names.queryNorm, query),
      key: normedHeads(prefix, names.keyNorm, key),
      value,
    })
    newRows(graph, layer, shape, result)
    return graph.add(x, scaled(prefix, names.attentionScale, linear(prefix + names.output, result.mixed)))
  }

  function projected(prefix: string, x: Value): { readonly query: Value; readonly key: Value; readonly value: Value } {
    const { projections } = names
    if (typeof projections !== 'string')
      return {
        query: linear(prefix + projections.query, x),
        key: linear(prefix + projections.key, x),
        value: linear(prefix + projections.value, x),
      }
    const [query, key, value] = graph.split(linear(prefix + projections, x), 1, 3)
    return { query: query!, key: key!, value: value! }
  }

  function crossAttention(prefix: string, x: Value, layer: number, cross: NonNullable<LayerNames['cross']>): Value {
    const { heads, headSize } = keptHeads(shape)
    const memory = (part: string) => graph.input(`memory_${part}_${layer}`, 'float32', ['memory', heads, headSize])
    const normed = plainNorm(prefix + cross.norm, x, cross.epsilon)
    const past = { keys: memory('keys'), values: memory('values') }
    return graph.add(
      x,
      linear(prefix + cross.output, attendMemory(graph, shape, linear(prefix + cross.query, normed), past)),
    )
  }

  function feedForward(prefix: string, x: Value): Value {
    const normed = norm(prefix + names.feedForwardNorm, x)
    const inner = linear(prefix + names.up, normed)
    if (names.gate === undefined) return linear(prefix + names.down, active(inner))
    const [gate, up] =
      typeof names.gate === 'string' ? [linear(prefix + names.gate, normed), inner] : graph.split(inner, 1, 2)
    return linear(prefix + names.down, graph.multiply(active(gate!), up!))
  }

  function active(x: Value): Value {
    return shape.activation === 'silu' ? graph.silu(x) : graph.gelu(x, shape.activation)
  }

  function norm(name: string, x: Value): Value {
    return shape.norm === 'rms' ? graph.rmsNorm(x, shape.epsilon, flat(name)) : plainNorm(name, x, shape.epsilon)
  }

  function plainNorm(name: string, x: Value, epsilon: number): Value {
    const bias = biasName(name)
    return graph.layerNorm(x, epsilon, flat(name), bias === undefined ? undefined : graph.weight(bias))
  }

  function normedHeads(prefix: string, name: string | undefined, x: Value): Value {
    if (name === undefined) return x
    const heads = graph.reshape(x, 0, -1, shape.headSize)
    return graph.reshape(graph.rmsNorm(heads, shape.epsilon, flat(prefix + name)), 0, -1)
  }

  /** Some files store a norm's weights as [1, 1, width]. */
  function flat(name: string): Value {
    const value = graph.weight(name)
    return graph.weightShape(name).length > 1 ? graph.reshape(value, -1) : value
  }

  function linear(name: string, x: Value): Value {
    return graph.linear(x, name, biasName(name))
  }

  function biasName(name: string): string | undefined {
    const bias = name.replace(/weight$/, 'bias')
    return bias !== name && graph.hasWeight(bias) ? bias : undefined
  }

  /** Not every model with these names has factors: a language model has none. */
  function scaled(prefix: string, name: string | undefined, x: Value): Value {
    return name !== undefined && graph.hasWeight(prefix + name) ? graph.multiply(x, graph.weight(prefix + name)) : x
  }
}
