/** The settings of a Kyutai TTS model, read from its `config.json` and that of its codec. No size is assumed here. */
import { join } from 'node:path'
import { z } from 'zod'
import { readSettings, refuseSettings } from '../neural/model-files.ts'

const count = z
  .int()
  .positive()
  .max(1 << 20)
const fileName = z.string().regex(/^[\w.@-]+$/, 'is not the name of a file beside it')
const temperature = z.number().min(0).max(10)

const table = z.looseObject({
  type: z.literal('lut'),
  lut: z.looseObject({ n_bins: count, dim: count, possible_values: z.array(z.string()).min(1).max(1000) }),
})

const modelFile = z.looseObject({
  card: count,
  n_q: count.max(256),
  dep_q: count.max(256),
  delays: z.array(z.int().nonnegative().max(100)),
  dim: count,
  text_card: count,
  text_card_out: count.nullish(),
  existing_text_padding_id: z.int().positive(),
  existing_text_end_padding_id: z.literal(0).optional(),
  num_heads: count,
  num_layers: count.max(1000),
  hidden_scale: z.number().positive(),
  context: count,
  max_period: z.number().positive(),
  gating: z.literal('silu'),
  norm: z.literal('rms_norm_f32'),
  positional_embedding: z.literal('rope'),
  cross_attention: z.literal(true),
  demux_second_stream: z.literal(true),
  depformer_dim: count,
  depformer_num_heads: count,
  depformer_num_layers: count.max(1000),
  depformer_dim_feedforward: count,
  depformer_multi_linear: z.literal(true),
  depformer_pos_emb: z.literal('none'),
  depformer_weights_per_step: z.literal(true),
  depformer_weights_per_step_schedule: z.array(z.int().nonnegative().max(255)).optional(),
  depformer_low_rank_embeddings: count,
  conditioners: z.looseObject({
    speaker_wavs: z.looseObject({ type: z.literal('tensor'), tensor: z.looseObject({ dim: count }) }),
    cfg: table,
    control: table,
  }),
  fuser: z.looseObject({
    cross_attention_pos_emb: z.literal(true),
    cross_attention_pos_emb_scale: z.number().default(1),
    sum: z.array(z.string()),
    cross: z.array(z.string()),
  }),
  tts_config: z.looseObject({
    audio_delay: z.number().nonnegative().max(60),
    second_stream_ahead: z.int().nonnegative().max(100).default(0),
  }),
  model_id: z.looseObject({ sig: z.string().regex(/^\w+$/), epoch: z.int() }),
  lm_gen_config: z.looseObject({ temp: temperature.default(0.6), text_temp: temperature.default(0.6) }).prefault({}),
  tokenizer_name: fileName,
  moshi_name: fileName.default('model.safetensors'),
  mimi_name: fileName,
})

/** The published codec has no configuration file: these are its values, and all that its file does not show. */
const codecFile = z.looseObject({
  sample_rate: count.default(24_000),
  frame_rate: z.number().positive().default(12.5),
  seanet: z.looseObject({ ratios: z.array(count).optional(), dilation_base: count.default(2) }).prefault({}),
  quantizer: z.looseObject({ dimension: count.optional(), n_q: count.max(256).optional() }).prefault({}),
  transformer: z
    .looseObject({
      num_heads: count.default(8),
      num_layers: count.max(1000).optional(),
      context: count.default(250),
      max_period: z.number().positive().default(10_000),
    })
    .prefault({}),
})

const publishedCodec = { transformer: { num_layers: 8 } }

export type ModelFile = z.output<typeof modelFile>
export type CodecFile = z.output<typeof codecFile>

export interface KyutaiConfiguration {
  readonly model: ModelFile
  readonly codec: CodecFile
  /** Which set of weights makes each codebook. */
  readonly schedule: readonly number[]
  readonly sets: number
  /** Inner widths of the gated feed-forward parts. */
  readonly feedForward: { readonly backbone: number; readonly depth: number }
  /** Steps by which audio comes behind its text. */
  readonly audioDelay: number
  /** Values of the guidance that the model was trained with. */
  readonly guidance: readonly number[]
}

const title = 'Kyutai TTS'

/** Reads the configuration of a folder. Throws an AppError naming the file and all that is wrong in it. */
export async function readConfiguration(folder: string): Promise<KyutaiConfiguration> {
  const path = join(folder, 'config.json')
  const model = await readSettings(path, modelFile, title)
  const codecPath = join(folder, 'mimi-config.json')
  const codec = await readSettings(codecPath, codecFile, title, publishedCodec)
  refuseSettings(path, title, problemsOf(model))
  const schedule = scheduleOf(model)
  return {
    model,
    codec,
    schedule,
    sets: Math.max(...schedule) + 1,
    feedForward: {
      backbone: gatedWidth(model.dim, Math.trunc(model.hidden_scale * model.dim)),
      depth: gatedWidth(model.depformer_dim, model.depformer_dim_feedforward),
    },
    audioDelay: Math.round(model.tts_config.audio_delay * codec.frame_rate),
    guidance: model.conditioners.cfg.lut.possible_values.map(Number),
  }
}

/** Without a schedule every codebook has a set of its own. */
function scheduleOf({ dep_q: books, depformer_weights_per_step_schedule: schedule }: ModelFile): readonly number[] {
  return schedule?.slice(0, books) ?? Array.from({ length: books }, (_, book) => book)
}

/** A gated part has three matrices where a plain one has two: it is narrower by the authors' rule. */
function gatedWidth(width: number, feedForward: number): number {
  return feedForward === 4 * width ? Math.floor((21 * width) / 8) : Math.floor((2 * feedForward) / 3)
}

function problemsOf(model: ModelFile): string[] {
  const { n_q: books, delays, fuser } = model
  const problems: string[] = []
  const expect = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }
  expect(delays.length === books + 1, `delays: ${delays.length} of them for ${books + 1} streams`)
  for (const [name, width, heads] of [
    ['num_heads', model.dim, model.num_heads],
    ['depformer_num_heads', model.depformer_dim, model.depformer_num_heads],
  ] as const)
    expect(width % (2 * heads) === 0, `${name}: ${heads} heads do not share the width ${width}`)
  expect([...fuser.sum].sort().join() === 'cfg,control', `fuser.sum: ${fuser.sum.join()} instead of control,cfg`)
  expect(fuser.cross.join() === 'speaker_wavs', `fuser.cross: ${fuser.cross.join()} instead of speaker_wavs`)
  return problems
}
