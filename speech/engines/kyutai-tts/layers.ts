/** The transformers of Kyutai TTS as recipes: the backbone, and the depth transformer with each of its sets of weights. */
import { partName } from '../../../src/inference/inference.ts'
import type { TransformerShape } from '../../blocks/transformer.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import { fused } from './tensors.ts'

/** The authors' constants. */
const rmsEpsilon = 1e-8
const crossEpsilon = 1e-5

/** Reads text and audio of a step, and looks at the voice. */
export function backboneShape({ model, feedForward }: KyutaiConfiguration): TransformerShape {
  const cross = 'cross_attention.in_proj_weight'
  return {
    prefix: 'transformer',
    width: model.dim,
    layers: model.num_layers,
    feedForward: feedForward.backbone,
    heads: model.num_heads,
    headSize: model.dim / model.num_heads,
    period: model.max_period,
    epsilon: rmsEpsilon,
    norm: 'rms',
    activation: 'silu',
    names: {
      attentionNorm: 'norm1.alpha',
      projections: 'self_attn.in_proj_weight',
      output: 'self_attn.out_proj.weight',
      cross: {
        norm: 'norm_cross.weight',
        epsilon: crossEpsilon,
        query: partName(cross, fused.query),
        output: 'cross_attention.out_proj.weight',
      },
      feedForwardNorm: 'norm2.alpha',
      up: 'gating.linear_in.weight',
      gate: { fused: true },
      down: 'gating.linear_out.weight',
    },
  }
}

/** Makes the codes of a step, one after the other, with set `set` of its weights. */
export function depthShape({ model, feedForward }: KyutaiConfiguration, set: number): TransformerShape {
  return {
    prefix: 'depformer',
    width: model.depformer_dim,
    layers: model.depformer_num_layers,
    feedForward: feedForward.depth,
    heads: model.depformer_num_heads,
    headSize: model.depformer_dim / model.depformer_num_heads,
    rotation: 'none',
    // Without rotation it is not used.
    period: 1,
    epsilon: rmsEpsilon,
    norm: 'rms',
    activation: 'silu',
    names: {
      attentionNorm: 'norm1.alpha',
      projections: partName('self_attn.in_proj_weight', set),
      output: partName('self_attn.out_proj.weight', set),
      feedForwardNorm: 'norm2.alpha',
      up: `gating.${set}.linear_in.weight`,
      gate: { fused: true },
      down: `gating.${set}.linear_out.weight`,
    },
  }
}
