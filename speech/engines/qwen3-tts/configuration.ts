/** The settings of a Qwen3-TTS model, read from its three configuration files. No size is assumed here. */
import { join } from 'node:path'
import { z } from 'zod'
import { readSettings, refuseSettings } from '../neural/model-files.ts'

const count = z
  .int()
  .positive()
  .max(1 << 20)
const id = z.int().nonnegative()

const transformer = z.looseObject({
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count.max(1000),
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count.multipleOf(2),
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().default(1_000_000),
  vocab_size: count,
})

const talkerFile = transformer.extend({
  text_hidden_size: count,
  text_vocab_size: count,
  num_code_groups: count.min(2).max(256),
  codec_pad_id: id,
  codec_bos_id: id,
  codec_eos_token_id: id,
  codec_think_id: id,
  codec_nothink_id: id,
  codec_think_bos_id: id,
  codec_think_eos_id: id,
  codec_language_id: z.record(z.string(), id),
  spk_id: z.record(z.string(), id).default({}),
  spk_is_dialect: z.record(z.string(), z.union([z.string(), z.literal(false)])).default({}),
  code_predictor_config: transformer,
})

/** The official files omit the defaults of the reference implementation. */
const speakerFile = z.looseObject({
  enc_dim: count,
  mel_dim: count.default(128),
  enc_channels: z.array(count).length(5).default([512, 512, 512, 512, 1536]),
  enc_kernel_sizes: z.array(count).length(5).default([5, 3, 3, 3, 1]),
  enc_dilations: z.array(count).length(5).default([1, 2, 3, 4, 1]),
  enc_attention_channels: count.default(128),
  enc_res2net_scale: count.min(2).default(8),
  enc_se_channels: count.default(128),
  sample_rate: count.default(24_000),
})

const modelFile = z.looseObject({
  tts_model_type: z.enum(['custom_voice', 'voice_design', 'base']),
  tts_model_size: z.string().default(''),
  im_start_token_id: id,
  im_end_token_id: id,
  tts_pad_token_id: id,
  tts_bos_token_id: id,
  tts_eos_token_id: id,
  talker_config: talkerFile,
  speaker_encoder_config: speakerFile.optional(),
})

const generationFile = z.looseObject({
  do_sample: z.boolean().default(true),
  repetition_penalty: z.number().positive().default(1.05),
  temperature: z.number().positive().max(10).default(0.9),
  top_p: z.number().positive().max(1).default(1),
  top_k: z.int().nonnegative().default(50),
  subtalker_dosample: z.boolean().default(true),
  subtalker_temperature: z.number().positive().max(10).default(0.9),
  subtalker_top_p: z.number().positive().max(1).default(1),
  subtalker_top_k: z.int().nonnegative().default(50),
  max_new_tokens: count.default(2048),
})

const codecTransformer = z.looseObject({
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count.max(1000),
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count.multipleOf(2),
  rope_theta: z.number().positive().default(10_000),
  codebook_dim: count,
  codebook_size: count,
  num_quantizers: count.max(256),
})

const codecFile = z.looseObject({
  encoder_valid_num_quantizers: count,
  input_sample_rate: count,
  output_sample_rate: count,
  decoder_config: codecTransformer.extend({
    latent_dim: count,
    decoder_dim: count,
    sliding_window: count,
    rms_norm_eps: z.number().positive().default(1e-5),
    upsample_rates: z.array(count).min(1).max(8),
    upsampling_ratios: z.array(count).max(8),
  }),
  encoder_config: codecTransformer.extend({
    num_filters: count,
    upsampling_ratios: z.array(count).min(1).max(8),
    dilation_growth_rate: count.default(2),
    norm_eps: z.number().positive().default(1e-5),
  }),
})

export type TransformerFile = z.output<typeof transformer>
export type TalkerFile = z.output<typeof talkerFile>
export type SpeakerFile = z.output<typeof speakerFile>
export type ModelFile = z.output<typeof modelFile>
export type GenerationFile = z.output<typeof generationFile>
export type CodecFile = z.output<typeof codecFile>

export type QwenConfiguration = Awaited<ReturnType<typeof readConfiguration>>

/** The file of a folder that names the kind of model. */
const modelFileName = 'config.json'

const title = 'Qwen3-TTS'

/**
 * Reads the configuration files of a folder. Throws an AppError naming the file and all that is wrong in it.
 * @param name of the model's file, where a folder holds several.
 */
export async function readConfiguration(folder: string, name = modelFileName) {
  const path = join(folder, name)
  const model = await readSettings(path, modelFile, title)
  const generation = await readSettings(join(folder, 'generation_config.json'), generationFile, title, {})
  const codecPath = join(folder, 'speech_tokenizer', 'config.json')
  const codec = await readSettings(codecPath, codecFile, title)
  const { talker_config: talker } = model
  refuseSettings(path, title, [
    ...headProblems('talker_config', talker),
    ...headProblems('talker_config.code_predictor_config', talker.code_predictor_config),
  ])
  refuseSettings(codecPath, title, [
    ...headProblems('decoder_config', codec.decoder_config),
    ...headProblems('encoder_config', codec.encoder_config),
    ...groupProblems(codec, talker.num_code_groups),
  ])
  const { upsample_rates: rates, upsampling_ratios: ratios } = codec.decoder_config
  const samplesPerFrame = [...rates, ...ratios].reduce((product, rate) => product * rate, 1)
  return { model, generation, codec, samplesPerFrame }
}

/** So many ids at the end of the talker's vocabulary are no codes. */
export const controlIds = 1024

function headProblems(
  where: string,
  part: Pick<TransformerFile, 'num_attention_heads' | 'num_key_value_heads'>,
): string[] {
  const { num_attention_heads: heads, num_key_value_heads: kept } = part
  return heads % kept === 0 ? [] : [`${where}: ${heads} heads cannot share ${kept} key-value heads`]
}

function groupProblems(
  { decoder_config: decoder, encoder_valid_num_quantizers: valid }: CodecFile,
  groups: number,
): string[] {
  return Object.entries({
    'decoder_config.num_quantizers': decoder.num_quantizers,
    encoder_valid_num_quantizers: valid,
  })
    .filter(([, count]) => count !== groups)
    .map(([name, count]) => `${name}: ${count}, and the talker makes ${groups} codes a frame`)
}
