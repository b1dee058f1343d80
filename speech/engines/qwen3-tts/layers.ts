/** The transformers of Qwen3-TTS as recipes: talker, code predictor, and both halves of the codec. */
import type { LayerRecipe, TransformerShape } from '../../blocks/transformer.ts'
import type { CodecFile, ModelFile, TransformerFile } from './configuration.ts'

const gatedRecipe: LayerRecipe = {
  norm: 'rms',
  activation: 'silu',
  names: {
    attentionNorm: 'input_layernorm.weight',
    projections: {
      query: 'self_attn.q_proj.weight',
      key: 'self_attn.k_proj.weight',
      value: 'self_attn.v_proj.weight',
    },
    output: 'self_attn.o_proj.weight',
    attentionScale: 'self_attn_layer_scale.scale',
    feedForwardNorm: 'post_attention_layernorm.weight',
    gate: 'mlp.gate_proj.weight',
    up: 'mlp.up_proj.weight',
    down: 'mlp.down_proj.weight',
    feedForwardScale: 'mlp_layer_scale.scale',
  },
}

const languageRecipe: LayerRecipe = {
  ...gatedRecipe,
  names: { ...gatedRecipe.names, queryNorm: 'self_attn.q_norm.weight', keyNorm: 'self_attn.k_norm.weight' },
}

const { gate: _, ...plainNames } = gatedRecipe.names
const listeningRecipe: LayerRecipe = {
  norm: 'layer',
  activation: 'erf',
  names: { ...plainNames, up: 'mlp.fc1.weight', down: 'mlp.fc2.weight' },
}

/** Makes the first code of every frame. */
export function talkerShape({ talker_config: talker }: ModelFile): TransformerShape {
  return {
    ...sizes('talker.model', talker),
    period: talker.rope_theta,
    epsilon: talker.rms_norm_eps,
    ...languageRecipe,
  }
}

/** Makes the other codes of a frame. */
export function predictorShape({ talker_config: { code_predictor_config: predictor } }: ModelFile): TransformerShape {
  const prefix = 'talker.code_predictor.model'
  return {
    ...sizes(prefix, predictor),
    period: predictor.rope_theta,
    epsilon: predictor.rms_norm_eps,
    ...languageRecipe,
  }
}

/** Between the codes and the convolutions that make samples. */
export function decoderShape({ decoder_config: decoder }: CodecFile): TransformerShape {
  const prefix = 'decoder.pre_transformer'
  return { ...sizes(prefix, decoder), period: decoder.rope_theta, epsilon: decoder.rms_norm_eps, ...gatedRecipe }
}

/** Between the convolutions that hear a clip and its codes. */
export function encoderShape({ encoder_config: encoder }: CodecFile): TransformerShape {
  const prefix = 'encoder.encoder_transformer'
  return { ...sizes(prefix, encoder), period: encoder.rope_theta, epsilon: encoder.norm_eps, ...listeningRecipe }
}

type Sizes = Pick<
  TransformerFile,
  'hidden_size' | 'intermediate_size' | 'num_hidden_layers' | 'num_attention_heads' | 'num_key_value_heads' | 'head_dim'
>

function sizes(prefix: string, file: Sizes) {
  return {
    prefix,
    width: file.hidden_size,
    layers: file.num_hidden_layers,
    feedForward: file.intermediate_size,
    heads: file.num_attention_heads,
    keyValueHeads: file.num_key_value_heads,
    headSize: file.head_dim,
    rotation: 'halves' as const,
  }
}
