/** Makes Kyutai TTS model folders of any size from seeded random weights: they speak noise, but every file is as published. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readConfiguration } from '../../../../speech/engines/kyutai-tts/configuration.ts'
import { modelTensors } from '../../../../speech/engines/kyutai-tts/geometry.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { tokenizerModel } from '../pocket-tts/model.ts'
import { tensors } from '../qwen3-tts/model.ts'

export interface KyutaiSize {
  readonly width: number
  readonly heads: number
  readonly layers: number
  readonly context: number
  readonly textCard: number
  readonly card: number
  readonly books: number
  readonly schedule: readonly number[]
  readonly depth: {
    readonly width: number
    readonly heads: number
    readonly layers: number
    readonly feedForward: number
    readonly low: number
  }
  readonly voice: number
  readonly codec: {
    readonly sampleRate: number
    readonly width: number
    readonly heads: number
    readonly layers: number
    readonly feedForward: number
    readonly context: number
    readonly filters: number
    readonly ratios: readonly number[]
    readonly entry: number
  }
}

/** The published geometry. */
export const largeSize: KyutaiSize = {
  width: 2048,
  heads: 16,
  layers: 16,
  context: 500,
  textCard: 8000,
  card: 2048,
  books: 32,
  schedule: Array.from({ length: 32 }, (_, book) => (book < 8 ? book : 7 + Math.floor(book / 8))),
  depth: { width: 1024, heads: 16, layers: 4, feedForward: 3072, low: 128 },
  voice: 512,
  codec: {
    ...{ sampleRate: 24_000, width: 512, heads: 8, layers: 8, feedForward: 2048, context: 250, filters: 64 },
    ...{ ratios: [8, 6, 5, 4], entry: 256 },
  },
}

/** Nothing of its size: frames of 24 samples, at the frame rate of the published model. */
const tinySize: KyutaiSize = {
  width: 32,
  heads: 2,
  layers: 2,
  context: 40,
  textCard: 340,
  card: 24,
  books: 4,
  schedule: [0, 1, 2, 2],
  depth: { width: 16, heads: 2, layers: 1, feedForward: 24, low: 8 },
  voice: 16,
  codec: {
    ...{ sampleRate: 300, width: 16, heads: 2, layers: 1, feedForward: 24, context: 10, filters: 4 },
    ...{ ratios: [4, 3], entry: 8 },
  },
}

/** The names of the files beside `config.json`. */
export const files = { model: 'dsm.safetensors', codec: 'codec.safetensors', tokenizer: 'tokenizer.model' } as const

/** Writes all files of a model into a folder, which is made. */
export async function makeKyutaiModel(folder: string, size: KyutaiSize = tinySize, seed = 1): Promise<void> {
  await mkdir(folder, { recursive: true })
  const write = (name: string, content: unknown) => writeFile(join(folder, name), JSON.stringify(content))
  await write('config.json', modelConfiguration(size))
  await write('mimi-config.json', codecConfiguration(size))
  await writeFile(join(folder, files.tokenizer), tokenizerModel(size.textCard))
  await writeTensorFile(join(folder, files.model), await languageTensors(folder, seed))
  await writeTensorFile(join(folder, files.codec), tensors(codecShapes(size), 'F32', seed + 1))
}

/** Writes a voice for models of that size. */
export async function makeVoice(
  path: string,
  size: KyutaiSize = tinySize,
  {
    seed = 5,
    voices = 1,
    frames = 6,
    metadata = { sig: '1e68beda', epoch: '240' } as Readonly<Record<string, string>>,
  } = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeTensorFile(path, tensors(new Map([['speaker_wavs', [voices, size.voice, frames]]]), 'F32', seed), metadata)
}

async function languageTensors(folder: string, seed: number): Promise<NewTensor[]> {
  const shapes = modelTensors(await readConfiguration(folder))
  const ones = new Uint16Array(Math.max(...[...shapes.values()].map((shape) => shape.at(-1)!))).fill(0x3f80)
  const made = (kind: 'BF16' | 'F32', isOne: (name: string) => boolean) =>
    tensors(new Map([...shapes].filter(([name]) => isOne(name))), kind, seed)
  return [
    ...made('F32', (name) => name.startsWith('condition_provider')),
    ...made('BF16', (name) => !name.startsWith('condition_provider')).map((tensor) =>
      tensor.name.endsWith('.alpha') ? { ...tensor, data: () => ones.subarray(0, tensor.shape.at(-1)) } : tensor,
    ),
  ]
}

function modelConfiguration(size: KyutaiSize): unknown {
  const { depth } = size
  return {
    card: size.card,
    n_q: size.books,
    dep_q: size.books,
    delays: Array.from({ length: size.books + 1 }, (_, stream) => (stream < 2 ? 0 : 2)),
    dim: size.width,
    text_card: size.textCard,
    existing_text_padding_id: 3,
    num_heads: size.heads,
    num_layers: size.layers,
    hidden_scale: 4.125,
    context: size.context,
    max_period: 10_000,
    gating: 'silu',
    norm: 'rms_norm_f32',
    positional_embedding: 'rope',
    cross_attention: true,
    demux_second_stream: true,
    depformer_dim: depth.width,
    depformer_num_heads: depth.heads,
    depformer_num_layers: depth.layers,
    depformer_dim_feedforward: depth.feedForward,
    depformer_multi_linear: true,
    depformer_pos_emb: 'none',
    depformer_weights_per_step: true,
    depformer_weights_per_step_schedule: size.schedule,
    depformer_low_rank_embeddings: depth.low,
    conditioners: {
      speaker_wavs: { type: 'tensor', tensor: { dim: size.voice } },
      cfg: {
        type: 'lut',
        lut: { n_bins: 7, dim: 16, possible_values: ['1.0', '1.5', '2.0', '2.5', '3.0', '3.5', '4.0'] },
      },
      control: { type: 'lut', lut: { n_bins: 1, dim: size.width, possible_values: ['ok'] } },
    },
    fuser: { cross_attention_pos_emb: true, sum: ['control', 'cfg'], prepend: [], cross: ['speaker_wavs'] },
    tts_config: { audio_delay: 1.28, second_stream_ahead: 2 },
    model_id: { sig: '1e68beda', epoch: 240 },
    tokenizer_name: files.tokenizer,
    moshi_name: files.model,
    mimi_name: files.codec,
  }
}

function codecConfiguration({ codec, books }: KyutaiSize): unknown {
  return {
    sample_rate: codec.sampleRate,
    frame_rate: 12.5,
    seanet: { ratios: codec.ratios },
    quantizer: { dimension: codec.entry, n_q: books },
    transformer: { num_heads: codec.heads, num_layers: codec.layers, context: codec.context },
  }
}

/** The codec's half that makes samples: the numbering of its convolutions leaves gaps for activations. */
function codecShapes({ codec, books, card }: KyutaiSize): ReadonlyMap<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>()
  const convolution = (name: string, outputs: number, ...rest: number[]) => {
    shapes.set(`decoder.model.${name}.weight`, [outputs, ...rest])
    shapes.set(`decoder.model.${name}.bias`, [outputs])
  }
  for (let book = 0; book < books; book++) {
    const place = book === 0 ? 'rvq_first.vq.layers.0' : `rvq_rest.vq.layers.${book - 1}`
    shapes.set(`quantizer.${place}._codebook.cluster_usage`, [card])
    shapes.set(`quantizer.${place}._codebook.embedding_sum`, [card, codec.entry])
  }
  for (const half of ['first', 'rest'])
    shapes.set(`quantizer.rvq_${half}.output_proj.weight`, [codec.width, codec.entry, 1])
  shapes.set('upsample.convtr.convtr.convtr.weight', [codec.width, 1, 4])
  for (let layer = 0; layer < codec.layers; layer++) {
    const name = `decoder_transformer.transformer.layers.${layer}`
    for (const part of ['norm1.weight', 'norm1.bias', 'norm2.weight', 'norm2.bias'])
      shapes.set(`${name}.${part}`, [codec.width])
    shapes.set(`${name}.self_attn.in_proj_weight`, [3 * codec.width, codec.width])
    shapes.set(`${name}.self_attn.out_proj.weight`, [codec.width, codec.width])
    shapes.set(`${name}.linear1.weight`, [codec.feedForward, codec.width])
    shapes.set(`${name}.linear2.weight`, [codec.width, codec.feedForward])
    for (const scale of [1, 2]) shapes.set(`${name}.layer_scale_${scale}.scale`, [codec.width])
  }
  let channels = codec.filters * 2 ** codec.ratios.length
  convolution('0.conv.conv', channels, codec.width, 7)
  let index = 2
  for (const ratio of codec.ratios) {
    const half = channels / 2
    shapes.set(`decoder.model.${index}.convtr.convtr.weight`, [channels, half, ratio * 2])
    shapes.set(`decoder.model.${index}.convtr.convtr.bias`, [half])
    convolution(`${index + 1}.block.1.conv.conv`, half / 2, half, 3)
    convolution(`${index + 1}.block.3.conv.conv`, half, half / 2, 1)
    channels = half
    index += 3
  }
  convolution(`${index}.conv.conv`, 1, channels, 3)
  return shapes
}
