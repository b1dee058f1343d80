/**
 * Settings that a weights file does not tell: head counts, attention context, activation, sampling, preparation of text.
 * The official folders hold no `config.json`; their values stand here, by folder name. A folder's own file overrides them.
 */

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import type { GeluForm } from '../../../src/inference/inference.ts'
import type { HeadShape } from '../../blocks/attention.ts'
import type { AttentionSetting } from '../../blocks/transformer.ts'
import { readSettings } from '../neural/model-files.ts'
import type { PocketGeometry } from './geometry.ts'
import { languageOfName } from './model-folder.ts'

export interface PocketConfiguration {
  readonly sampleRate: number
  /** English name of the language that the model speaks. */
  readonly language: string
  readonly gelu: GeluForm
  readonly languageModel: AttentionSetting
  readonly head: { readonly layerNormEpsilon: number; readonly rmsNormEpsilon: number }
  /** Of the encoder and the decoder alike; `context` counts the row itself. */
  readonly mimi: AttentionSetting & { readonly context: number; readonly dilationBase: number }
  readonly sampling: Sampling
  readonly text: {
    readonly removeSemicolons: boolean
    readonly framesAfterEnd: number | undefined
    /** Characters that are read as others, or as nothing. */
    readonly replaced?: Readonly<Record<string, string>>
  }
}

export interface Sampling {
  readonly temperature: number
  /** Steps of the flow head per frame. */
  readonly flowSteps: number
  /** The noise is drawn again until it lies within ± this. */
  readonly noiseLimit: number | undefined
  /** A logit above it ends the speech. */
  readonly endThreshold: number
  readonly tokensPerChunk: number
  /** With the padding below: how long speech may get when its end is never found. */
  readonly tokensPerSecond: number
  readonly paddingSeconds: number
}

/** Settings that override a folder's. */
export interface ConfigurationOverrides {
  readonly gelu?: GeluForm
  readonly flowSteps?: number
}

/** The configuration with some of it replaced. */
export function overridden(
  configuration: PocketConfiguration,
  { gelu = configuration.gelu, flowSteps = configuration.sampling.flowSteps }: ConfigurationOverrides = {},
): PocketConfiguration {
  return { ...configuration, gelu, sampling: { ...configuration.sampling, flowSteps } }
}

/** All fields may be absent: a folder as its authors publish it has no such file. */
const configurationFile = z.looseObject({
  sample_rate: z.int().positive().optional(),
  frame_rate: z.number().positive().optional(),
  samples_per_frame: z.int().positive().optional(),
  language: z.string().min(1).optional(),
  text_embedding_rows: z.int().positive().optional(),
  insert_bos_before_voice: z.boolean().optional(),
  flow_lm: z
    .looseObject({
      d_model: z.int().positive().optional(),
      num_heads: z.int().positive().optional(),
      head_dim: z.int().positive().multipleOf(2).optional(),
      num_layers: z.int().positive().optional(),
      ffn_dim: z.int().positive().optional(),
      rope_max_period: z.number().positive().optional(),
      layer_norm_eps: z.number().positive().optional(),
      ffn_activation: z.string().regex(/^gelu/i).optional(),
    })
    .prefault({}),
  flow_head: z
    .looseObject({
      dim: z.int().positive().optional(),
      depth: z.int().positive().optional(),
      latent_dim: z.int().positive().optional(),
      time_frequencies: z.int().positive().optional(),
      layer_norm_eps: z.number().positive().optional(),
      rms_norm_eps: z.number().positive().optional(),
    })
    .prefault({}),
  mimi: z
    .looseObject({
      dim: z.int().positive().optional(),
      latent_dim: z.int().positive().optional(),
      resample_stride: z.int().positive().optional(),
      encoder_output_dim: z.int().positive().optional(),
      seanet: z
        .looseObject({
          ratios: z.array(z.int().positive()).optional(),
          dilation_base: z.int().positive().optional(),
          pad_mode: z.literal('constant').optional(),
        })
        .prefault({}),
      transformer: z
        .looseObject({
          d_model: z.int().positive().optional(),
          num_heads: z.int().positive().optional(),
          head_dim: z.int().positive().multipleOf(2).optional(),
          num_layers: z.int().positive().optional(),
          ffn_dim: z.int().positive().optional(),
          context: z.int().positive().optional(),
          rope_max_period: z.number().positive().optional(),
          layer_norm_eps: z.number().positive().optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  sampling: z
    .looseObject({
      temperature: z.number().min(0).max(10).optional(),
      lsd_decode_steps: z.int().min(1).max(64).optional(),
      // A bound far narrower than the noise would be drawn again and again.
      noise_clamp: z.number().min(0.01).nullish(),
      eos_threshold: z.number().optional(),
      max_tokens_per_chunk: z.int().positive().optional(),
      tokens_per_second_estimate: z.number().positive().optional(),
      gen_seconds_padding: z.number().nonnegative().optional(),
    })
    .prefault({}),
  text_flags: z
    .looseObject({
      remove_semicolons: z.boolean().optional(),
      model_recommended_frames_after_eos: z.int().nonnegative().nullish(),
    })
    .prefault({}),
})

type ConfigurationFile = z.output<typeof configurationFile>

/** Every official model has heads of this size. */
const officialHeadSize = 64

/** Reads `config.json` where there is one and fills in the official values; throws an AppError naming every contradiction to the weights. */
export async function readConfiguration(folder: string, geometry: PocketGeometry): Promise<PocketConfiguration> {
  const path = join(folder, 'config.json')
  const isOfficial = !existsSync(path)
  const stated = await readSettings(path, configurationFile, 'pocket-tts', {})
  const name = basename(folder)
  const problems = isOfficial ? officialProblems(name, geometry) : []
  problems.push(...contradictions(stated, geometry))
  const configuration = complete(stated, name, geometry)
  const { languageModel, mimi } = configuration
  checkHeads('flow_lm', languageModel, geometry.languageModel.width, problems)
  checkHeads('mimi.transformer', mimi, geometry.decoder.transformer.width, problems)
  if (problems.length > 0)
    throw new AppError('invalid', `${isOfficial ? folder : path} does not fit its model.safetensors`, {
      details: problems,
    })
  return configuration
}

/** Marks that the Dutch model was not trained on. */
const dutchReplacements = {
  ...Object.fromEntries([...'"“”„«»()[]'].map((mark) => [mark, ''])),
  '’': "'",
  '‘': "'",
}

/** The models as published, by folder: `english`, `english_2026-09`, `french_24l`… */
function official(name: string): {
  language: string
  gelu: GeluForm
  temperature: number
  framesAfterEnd?: number
  removeSemicolons: boolean
  replaced: Readonly<Record<string, string>>
} {
  const language = languageOfName(name)
  // From its release of September 2026 on, the reference implementation computes the tanh form and samples cooler.
  const isNewer = name.startsWith('english_2026-09')
  return {
    language,
    gelu: isNewer ? 'tanh' : 'erf',
    temperature: isNewer ? 0.3 : 0.7,
    removeSemicolons: language === 'French' || language === 'German',
    replaced: language === 'Dutch' ? dutchReplacements : {},
    ...(language === 'French' && { framesAfterEnd: 8 }),
  }
}

/** A last layer that is missing altogether cannot be seen in the file; the names of the official folders tell. */
function officialProblems(name: string, { languageModel }: PocketGeometry): string[] {
  if (!/^(dutch|english|french|german|italian|portuguese|spanish)(_\d{4}-\d{2})?(_24l)?$/.test(name)) return []
  const layers = name.endsWith('_24l') ? 24 : 6
  return languageModel.layers === layers
    ? []
    : [`${name} has ${layers} layers, and model.safetensors holds ${languageModel.layers} (flow_lm.transformer.layers)`]
}

function complete(stated: ConfigurationFile, name: string, geometry: PocketGeometry): PocketConfiguration {
  const { flow_lm: lm, flow_head: head, sampling, text_flags: text, mimi } = stated
  const known = official(name)
  return {
    sampleRate: stated.sample_rate ?? 24_000,
    language: stated.language ?? known.language,
    gelu: lm.ffn_activation === undefined ? known.gelu : /tanh/i.test(lm.ffn_activation) ? 'tanh' : 'erf',
    languageModel: attentionSetting(lm, geometry.languageModel.width),
    head: { layerNormEpsilon: head.layer_norm_eps ?? 1e-6, rmsNormEpsilon: head.rms_norm_eps ?? 1e-5 },
    mimi: {
      ...attentionSetting(mimi.transformer, geometry.decoder.transformer.width),
      context: mimi.transformer.context ?? 250,
      dilationBase: mimi.seanet.dilation_base ?? 2,
    },
    sampling: {
      temperature: sampling.temperature ?? known.temperature,
      flowSteps: sampling.lsd_decode_steps ?? 1,
      noiseLimit: sampling.noise_clamp ?? undefined,
      endThreshold: sampling.eos_threshold ?? -4,
      tokensPerChunk: sampling.max_tokens_per_chunk ?? 50,
      tokensPerSecond: sampling.tokens_per_second_estimate ?? 3,
      paddingSeconds: sampling.gen_seconds_padding ?? 2,
    },
    text: {
      removeSemicolons: text.remove_semicolons ?? known.removeSemicolons,
      framesAfterEnd: text.model_recommended_frames_after_eos ?? known.framesAfterEnd,
      replaced: known.replaced,
    },
  }
}

function attentionSetting(stated: ConfigurationFile['mimi']['transformer'], width: number): AttentionSetting {
  const heads =
    stated.num_heads ?? Math.max(1, Math.floor(width / (stated.head_dim ?? Math.min(width, officialHeadSize))))
  return {
    heads,
    headSize: stated.head_dim ?? width / heads,
    period: stated.rope_max_period ?? 10_000,
    epsilon: stated.layer_norm_eps ?? 1e-5,
  }
}

function checkHeads(where: string, { heads, headSize }: HeadShape, width: number, problems: string[]): void {
  if (heads * headSize !== width || headSize % 2 !== 0)
    problems.push(`${where}: ${heads} heads of ${headSize} do not make up the width ${width}`)
}

/** Every size that the configuration states must be the one that the weights have. */
function contradictions(stated: ConfigurationFile, geometry: PocketGeometry): string[] {
  const { languageModel, head, decoder, encoder, latent, samplesPerFrame } = geometry
  const { flow_lm: lm, flow_head: flow, mimi } = stated
  const frameRate = (stated.sample_rate ?? 24_000) / samplesPerFrame
  // A rate that is no round number may have been written with few digits.
  const statedRate = stated.frame_rate ?? frameRate
  const isThisRate = Math.abs(statedRate - frameRate) < frameRate / 1000
  const pairs: readonly [string, unknown, unknown][] = [
    ['samples_per_frame', stated.samples_per_frame, samplesPerFrame],
    ['frame_rate', isThisRate ? frameRate : statedRate, frameRate],
    ['text_embedding_rows', stated.text_embedding_rows, geometry.textRows],
    ['insert_bos_before_voice', stated.insert_bos_before_voice, geometry.hasRowBeforeVoice],
    ['flow_lm.d_model', lm.d_model, languageModel.width],
    ['flow_lm.num_layers', lm.num_layers, languageModel.layers],
    ['flow_lm.ffn_dim', lm.ffn_dim, languageModel.feedForward],
    ['flow_head.dim', flow.dim, head.width],
    ['flow_head.depth', flow.depth, head.blocks],
    ['flow_head.latent_dim', flow.latent_dim, latent],
    ['flow_head.time_frequencies', flow.time_frequencies, head.frequencies],
    ['mimi.dim', mimi.dim, decoder.transformer.width],
    ['mimi.transformer.d_model', mimi.transformer.d_model, decoder.transformer.width],
    ['mimi.latent_dim', mimi.latent_dim, latent],
    ['mimi.encoder_output_dim', encoder && mimi.encoder_output_dim, encoder?.channels],
    ['mimi.resample_stride', mimi.resample_stride, decoder.stride],
    ['mimi.seanet.ratios', mimi.seanet.ratios?.join(), decoder.seanet.ratios.join()],
    ['mimi.transformer.num_layers', mimi.transformer.num_layers, decoder.transformer.layers],
    ['mimi.transformer.ffn_dim', mimi.transformer.ffn_dim, decoder.transformer.feedForward],
  ]
  return pairs
    .filter(([, says, has]) => says !== undefined && says !== has)
    .map(([name, says, has]) => `config.json says ${name} ${says}, and the weights have ${has}`)
}
