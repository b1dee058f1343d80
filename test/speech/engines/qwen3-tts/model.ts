/** Makes Qwen3-TTS model folders of any size from seeded random weights: they speak noise, but every file is as published. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type QwenConfiguration, readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { decoderTensors, encoderTensors, modelTensors } from '../../../../speech/engines/qwen3-tts/geometry.ts'
import type { StoredType } from '../../../../src/inference/safetensors.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'

export interface QwenSize {
  readonly kind: 'custom_voice' | 'voice_design' | 'base'
  readonly size: '0b6' | '1b7'
  readonly talker: TransformerSize & { readonly textWidth: number; readonly textRows: number }
  readonly predictor: TransformerSize
  /** Codes of the talker's first group, without the ids that steer it. */
  readonly codes: number
  readonly groups: number
  readonly codec: {
    readonly sampleRate: number
    readonly rates: readonly number[]
    readonly ratios: readonly number[]
    readonly latent: number
    readonly width: number
    readonly entry: number
    readonly window: number
    readonly transformer: TransformerSize
    readonly filters: number
    readonly encoder: TransformerSize
    readonly encoderRatios: readonly number[]
  }
  readonly speaker: { readonly channels: number; readonly last: number; readonly attention: number }
  /** Whether the codec hears, as the published one does. */
  readonly hasEncoder: boolean
  /** Random weights seldom end a text: it is cut here. */
  readonly mostFrames: number
}

interface TransformerSize {
  readonly width: number
  readonly feedForward: number
  readonly layers: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly headSize: number
}

/** The published geometry of the small model. */
export const smallSize: QwenSize = {
  kind: 'custom_voice',
  size: '0b6',
  talker: {
    ...{ width: 1024, feedForward: 3072, layers: 28, heads: 16, keyValueHeads: 8, headSize: 128 },
    ...{ textWidth: 2048, textRows: 151_936 },
  },
  predictor: { width: 1024, feedForward: 3072, layers: 5, heads: 16, keyValueHeads: 8, headSize: 128 },
  codes: 2048,
  groups: 16,
  codec: {
    sampleRate: 24_000,
    rates: [8, 5, 4, 3],
    ratios: [2, 2],
    ...{ latent: 1024, width: 1536, entry: 512, window: 72 },
    transformer: { width: 512, feedForward: 1024, layers: 8, heads: 16, keyValueHeads: 16, headSize: 64 },
    filters: 64,
    encoder: { width: 512, feedForward: 2048, layers: 8, heads: 8, keyValueHeads: 8, headSize: 64 },
    encoderRatios: [8, 6, 5, 4],
  },
  speaker: { channels: 512, last: 1536, attention: 128 },
  hasEncoder: false,
  mostFrames: 2048,
}

/** The published geometry of the large model. */
export const largeSize: QwenSize = {
  ...smallSize,
  size: '1b7',
  talker: { ...smallSize.talker, width: 2048, feedForward: 6144 },
}

/** Nothing of their size: frames of 24 samples, at the frame rate of the published models. */
export const tinySize: QwenSize = {
  kind: 'custom_voice',
  size: '1b7',
  talker: {
    ...{ width: 48, feedForward: 64, layers: 2, heads: 4, keyValueHeads: 2, headSize: 16 },
    ...{ textWidth: 32, textRows: 300 },
  },
  predictor: { width: 32, feedForward: 48, layers: 1, heads: 2, keyValueHeads: 1, headSize: 16 },
  codes: 32,
  groups: 4,
  codec: {
    sampleRate: 300,
    rates: [4, 3],
    ratios: [2],
    ...{ latent: 16, width: 16, entry: 16, window: 5 },
    transformer: { width: 16, feedForward: 24, layers: 1, heads: 2, keyValueHeads: 2, headSize: 8 },
    filters: 2,
    encoder: { width: 16, feedForward: 24, layers: 1, heads: 2, keyValueHeads: 2, headSize: 8 },
    encoderRatios: [4, 3],
  },
  speaker: { channels: 16, last: 24, attention: 8 },
  hasEncoder: true,
  mostFrames: 40,
}

const languages = 'chinese english german italian portuguese spanish japanese korean french russian'.split(' ')
const speakers = ['serena', 'vivian', 'uncle_fu', 'ryan', 'aiden', 'ono_anna', 'sohee', 'eric', 'dylan']

/** Writes all files of a model into a folder, which is made. */
export async function makeQwenModel(folder: string, size: QwenSize = tinySize, seed = 1): Promise<void> {
  await mkdir(join(folder, 'speech_tokenizer'), { recursive: true })
  const write = (name: string, content: unknown) => writeFile(join(folder, name), JSON.stringify(content))
  await write('config.json', modelConfiguration(size))
  await write('generation_config.json', { max_new_tokens: size.mostFrames })
  await write('speech_tokenizer/config.json', codecConfiguration(size))
  const vocabulary = makeVocabulary()
  await write('vocab.json', vocabulary.pieces)
  await writeFile(join(folder, 'merges.txt'), `#version: 0.2\n${vocabulary.merges.join('\n')}\n`)
  await write('tokenizer_config.json', { added_tokens_decoder: addedTokens(size) })
  const configuration = await readConfiguration(folder)
  await writeTensorFile(join(folder, 'model.safetensors'), tensors(modelTensors(configuration.model), 'BF16', seed))
  const codec = codecShapes(configuration, size)
  await writeTensorFile(join(folder, 'speech_tokenizer', 'model.safetensors'), tensors(codec, 'F32', seed + 1))
}

function specialIds({ talker: { textRows } }: QwenSize) {
  const [imStart, imEnd, pad, begin, end] = [6, 5, 4, 3, 2].map((behind) => textRows - behind)
  return { imStart, imEnd, pad, begin, end }
}

function addedTokens(size: QwenSize): Record<string, { content: string }> {
  const ids = specialIds(size)
  const names = {
    '<|im_start|>': ids.imStart,
    '<|im_end|>': ids.imEnd,
    '<tts_pad>': ids.pad,
    '<tts_text_bos>': ids.begin,
    '<tts_text_eod>': ids.end,
  }
  return Object.fromEntries(Object.entries(names).map(([content, id]) => [String(id), { content }]))
}

function transformer(size: TransformerSize): Record<string, number> {
  return {
    hidden_size: size.width,
    intermediate_size: size.feedForward,
    num_hidden_layers: size.layers,
    num_attention_heads: size.heads,
    num_key_value_heads: size.keyValueHeads,
    head_dim: size.headSize,
  }
}

function modelConfiguration(size: QwenSize): unknown {
  const ids = specialIds(size)
  const at = (index: number) => size.codes + 50 + index
  const { speaker } = size
  return {
    tts_model_type: size.kind,
    tts_model_size: size.size,
    im_start_token_id: ids.imStart,
    im_end_token_id: ids.imEnd,
    tts_pad_token_id: ids.pad,
    tts_bos_token_id: ids.begin,
    tts_eos_token_id: ids.end,
    talker_config: {
      ...transformer(size.talker),
      text_hidden_size: size.talker.textWidth,
      text_vocab_size: size.talker.textRows,
      vocab_size: size.codes + 1024,
      num_code_groups: size.groups,
      codec_pad_id: at(0),
      codec_bos_id: at(1),
      codec_eos_token_id: at(2),
      codec_think_id: at(3),
      codec_nothink_id: at(4),
      codec_think_bos_id: at(5),
      codec_think_eos_id: at(6),
      codec_language_id: Object.fromEntries(
        [...languages, 'beijing_dialect', 'sichuan_dialect'].map((name, index) => [name, at(10 + index)]),
      ),
      spk_id: size.kind === 'custom_voice' ? Object.fromEntries(speakers.map((name, i) => [name, at(40 + i)])) : {},
      spk_is_dialect:
        size.kind === 'custom_voice' ? { eric: 'sichuan_dialect', dylan: 'beijing_dialect', ryan: false } : {},
      code_predictor_config: { ...transformer(size.predictor), vocab_size: size.codes },
    },
    ...(size.kind === 'base' && {
      speaker_encoder_config: {
        enc_dim: size.talker.width,
        enc_channels: [...Array<number>(4).fill(speaker.channels), speaker.last],
        enc_attention_channels: speaker.attention,
        enc_se_channels: speaker.attention,
      },
    }),
  }
}

function codecConfiguration({ codec, codes, groups }: QwenSize): unknown {
  return {
    encoder_valid_num_quantizers: groups,
    input_sample_rate: codec.sampleRate,
    output_sample_rate: codec.sampleRate,
    decoder_config: {
      ...transformer(codec.transformer),
      codebook_dim: codec.entry,
      codebook_size: codes,
      num_quantizers: groups,
      latent_dim: codec.latent,
      decoder_dim: codec.width,
      sliding_window: codec.window,
      upsample_rates: codec.rates,
      upsampling_ratios: codec.ratios,
    },
    encoder_config: {
      ...transformer(codec.encoder),
      codebook_dim: codec.entry / 2,
      codebook_size: codes,
      num_quantizers: groups,
      num_filters: codec.filters,
      upsampling_ratios: codec.encoderRatios,
    },
  }
}

type Shapes = ReadonlyMap<string, readonly number[]>

function codecShapes({ codec }: QwenConfiguration, size: QwenSize): Shapes {
  const decoder = decoderTensors(codec)
  if (!size.hasEncoder) return decoder
  return new Map([...decoder, ...encoderTensors(codec, { expected: listeningShapes(size) })])
}

/** The convolutions that hear: their numbering leaves gaps for activations. */
function listeningShapes({ codec }: QwenSize): Shapes {
  const shapes = new Map<string, readonly number[]>()
  const expect = (name: string, ...shape: number[]) => {
    shapes.set(`encoder.encoder.layers.${name}.weight`, shape)
    shapes.set(`encoder.encoder.layers.${name}.bias`, shape.slice(0, 1))
  }
  let channels = codec.filters
  expect('0.conv', channels, 1, 7)
  let index = 1
  for (const ratio of codec.encoderRatios.toReversed()) {
    expect(`${index}.block.1.conv`, channels / 2, channels, 3)
    expect(`${index}.block.3.conv`, channels, channels / 2, 1)
    expect(`${index + 2}.conv`, channels * 2, channels, ratio * 2)
    channels *= 2
    index += 3
  }
  expect(`${index + 1}.conv`, codec.encoder.width, channels, 3)
  return shapes
}

/** Every byte is a piece, and some pairs of letters are. */
function makeVocabulary(): { pieces: Record<string, number>; merges: string[] } {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let extra = 0
  const signs = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : 256 + extra++))
  const merges = ['t h', 'th e', 'a n', 'i n', 'e r', 'o u']
  const all = [...signs, ...merges.map((merge) => merge.replace(' ', ''))]
  return { pieces: Object.fromEntries(all.map((piece, id) => [piece, id])), merges }
}

/** So many random numbers are made, and repeated from changing places: gigabytes of them would take minutes. */
const pool = 1 << 18

export function tensors(shapes: Shapes, dtype: StoredType, seed: number): NewTensor[] {
  const normal = randomNumbers(seed)
  let start = 0
  return [...shapes].map(([name, shape]) => ({
    name,
    dtype,
    shape,
    data: () => {
      start = (start + 7919) % pool
      return stored(normal, start, name, shape, dtype)
    },
  }))
}

function stored(
  normal: Float32Array,
  start: number,
  name: string,
  shape: readonly number[],
  dtype: StoredType,
): ArrayBufferView {
  const count = shape.reduce((product, size) => product * size, 1)
  const { base, spread } = rangeOf(name, shape)
  // A small tensor takes few of the numbers: the others are not scaled.
  const isSmall = count < pool
  const scaled = (isSmall ? repeated(normal, start, new Float32Array(count)) : normal).map((one) => base + one * spread)
  const from = isSmall ? 0 : start
  if (dtype === 'F32') return repeated(scaled, from, new Float32Array(count))
  const upperHalves = new Uint16Array(new Uint32Array(scaled.buffer).map((word) => word >>> 16))
  return repeated(upperHalves, from, new Uint16Array(count))
}

function repeated<T extends Float32Array | Uint16Array>(source: T, start: number, into: T): T {
  for (let at = 0; at < into.length; ) {
    const from = at === 0 ? start : 0
    const part = source.subarray(from, Math.min(source.length, from + into.length - at))
    into.set(part as never, at)
    at += part.length
  }
  return into
}

/** Norms around one, counts above zero, and matrices that keep the size of their input. */
function rangeOf(name: string, shape: readonly number[]): { base: number; spread: number } {
  if (/norm\d?\.weight$|_norm\.weight$|layernorm\.weight$/.test(name)) return { base: 1, spread: 0.1 }
  if (name.endsWith('cluster_usage')) return { base: 4, spread: 0.3 }
  if (/scale$|gamma$/.test(name)) return { base: 0.1, spread: 0.02 }
  if (/\.(alpha|beta|bias)$/.test(name)) return { base: 0, spread: 0.1 }
  const inputs = shape.slice(1).reduce((product, size) => product * size, 1)
  return { base: 0, spread: 1 / Math.sqrt(Math.max(1, inputs)) }
}

const randomBySeed = new Map<number, Float32Array>()

function randomNumbers(seed: number): Float32Array {
  let state = seed * 2654435761
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const made =
    randomBySeed.get(seed) ??
    Float32Array.from({ length: pool }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()))
  randomBySeed.set(seed, made)
  return made
}
