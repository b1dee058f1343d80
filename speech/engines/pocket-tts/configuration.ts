/**
 * Settings that a weights file does not tell: head counts, attention context, activation, sampling, preparation of text.
 * The official folders hold no `config.json`; their values stand here, by folder name. A folder's own file overrides them.
 */

import { basename, join } from 'node:path'
import { z } from 'zod'
import type { GeluForm } from '../../../src/inference/inference.ts'
import type { HeadShape } from '../../blocks/attention.ts'
import type { AttentionSetting } from '../../blocks/transformer.ts'
import { readSettings, refuseSettings } from '../neural/model-files.ts'
import type { PocketGeometry } from './geometry.ts'
import { languageOfName } from './model-folder.ts'

export type PocketConfiguration = ReturnType<typeof complete>
export type Sampling = PocketConfiguration['sampling']

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

const attention = z
  .looseObject({
    num_heads: z.int().positive().optional(),
    head_dim: z.int().positive().multipleOf(2).optional(),
    context: z.int().positive().default(250),
    rope_max_period: z.number().positive().default(10_000),
    layer_norm_eps: z.number().positive().default(1e-5),
    ffn_activation: z.string().regex(/^gelu/i).optional(),
  })
  .prefault({})

/** All fields may be absent: a folder as its authors publish it has no such file. The sizes in it are those of the weights. */
const configurationFile = z.looseObject({
  sample_rate: z.int().positive().default(24_000),
  language: z.string().min(1).optional(),
  flow_lm: attention,
  flow_head: z
    .looseObject({
      layer_norm_eps: z.number().positive().default(1e-6),
      rms_norm_eps: z.number().positive().default(1e-5),
    })
    .prefault({}),
  mimi: z
    .looseObject({
      seanet: z
        .looseObject({ dilation_base: z.int().positive().default(2), pad_mode: z.literal('constant').optional() })
        .prefault({}),
      transformer: attention,
    })
    .prefault({}),
  sampling: z
    .looseObject({
      temperature: z.number().min(0).max(10).optional(),
      lsd_decode_steps: z.int().min(1).max(64).default(1),
      // A bound far narrower than the noise would be drawn again and again.
      noise_clamp: z.number().min(0.01).nullish(),
      eos_threshold: z.number().default(-4),
      max_tokens_per_chunk: z.int().positive().default(50),
      tokens_per_second_estimate: z.number().positive().default(3),
      gen_seconds_padding: z.number().nonnegative().default(2),
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

/** Reads `config.json` where there is one and fills in the official values; throws an AppError for heads that do not fit the weights. */
export async function readConfiguration(folder: string, geometry: PocketGeometry): Promise<PocketConfiguration> {
  const path = join(folder, 'config.json')
  const stated = await readSettings(path, configurationFile, 'pocket-tts', {})
  const configuration = complete(stated, basename(folder), geometry)
  const { languageModel, mimi } = configuration
  refuseSettings(path, 'pocket-tts', [
    ...headProblems('flow_lm', languageModel, geometry.languageModel.width),
    ...headProblems('mimi.transformer', mimi, geometry.decoder.transformer.width),
  ])
  return configuration
}

/** Marks that the Dutch model was not trained on. */
const dutchReplacements: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'"“”„«»()[]'].map((mark) => [mark, ''])),
  '’': "'",
  '‘': "'",
}

/** What the file does not state is as in the model that is published in a folder of that name: `english_2026-09`, `french_24l`… */
function complete(stated: ConfigurationFile, name: string, geometry: PocketGeometry) {
  const { flow_lm: lm, flow_head: head, sampling, text_flags: text, mimi } = stated
  const published = languageOfName(name)
  // From its release of September 2026 on, the reference implementation computes the tanh form and samples cooler.
  const isNewer = name.startsWith('english_2026-09')
  const gelu: GeluForm = (lm.ffn_activation === undefined ? isNewer : /tanh/i.test(lm.ffn_activation)) ? 'tanh' : 'erf'
  return {
    sampleRate: stated.sample_rate,
    /** English name of the language that the model speaks. */
    language: stated.language ?? published,
    gelu,
    languageModel: attentionSetting(lm, geometry.languageModel.width),
    head: { layerNormEpsilon: head.layer_norm_eps, rmsNormEpsilon: head.rms_norm_eps },
    /** Of the encoder and the decoder alike; `context` counts the row itself. */
    mimi: {
      ...attentionSetting(mimi.transformer, geometry.decoder.transformer.width),
      context: mimi.transformer.context,
      dilationBase: mimi.seanet.dilation_base,
    },
    sampling: {
      temperature: sampling.temperature ?? (isNewer ? 0.3 : 0.7),
      /** Steps of the flow head per frame. */
      flowSteps: sampling.lsd_decode_steps,
      /** The noise is drawn again until it lies within ± this. */
      noiseLimit: sampling.noise_clamp ?? undefined,
      /** A logit above it ends the speech. */
      endThreshold: sampling.eos_threshold,
      tokensPerChunk: sampling.max_tokens_per_chunk,
      /** With the padding below: how long speech may get when its end is never found. */
      tokensPerSecond: sampling.tokens_per_second_estimate,
      paddingSeconds: sampling.gen_seconds_padding,
    },
    text: {
      removeSemicolons: text.remove_semicolons ?? /French|German/.test(published),
      framesAfterEnd: text.model_recommended_frames_after_eos ?? (published === 'French' ? 8 : undefined),
      /** Characters that are read as others, or as nothing. */
      replaced: published === 'Dutch' ? dutchReplacements : {},
    },
  }
}

function attentionSetting(stated: ConfigurationFile['flow_lm'], width: number): AttentionSetting {
  const heads =
    stated.num_heads ?? Math.max(1, Math.floor(width / (stated.head_dim ?? Math.min(width, officialHeadSize))))
  const headSize = stated.head_dim ?? width / heads
  return { heads, headSize, period: stated.rope_max_period, epsilon: stated.layer_norm_eps }
}

function headProblems(where: string, { heads, headSize }: HeadShape, width: number): string[] {
  if (heads * headSize === width && headSize % 2 === 0) return []
  return [`${where}: ${heads} heads of ${headSize} do not make up the width ${width}`]
}
