/** Makes pocket-tts model folders of any size from seeded random weights: they speak noise, but every file is as published. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Field, writeMessage } from '../../../../src/inference/protobuf.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'

export interface PocketSize {
  readonly width: number
  readonly layers: number
  readonly feedForward: number
  readonly headWidth: number
  readonly headBlocks: number
  readonly frequencies: number
  readonly latent: number
  readonly mimi: number
  readonly mimiLayers: number
  readonly mimiFeedForward: number
  readonly filters: number
  readonly ratios: readonly number[]
  /** Residual blocks per stage of the codec's convolutions. */
  readonly blocks: number
  readonly stride: number
  readonly pieces: number
  /** Whether it is of the generation that puts a row before the voice. */
  readonly hasRowBeforeVoice: boolean
  /** The encoder as the gated edition, the open edition or no edition has it. */
  readonly encoder: 'random' | 'zeros' | 'absent'
  /** Added to the logit that ends the speech: -100 never ends it, 100 ends it at once. */
  readonly endBias: number
  readonly dtype: 'BF16' | 'F16' | 'F32'
  /** Written as `config.json`, which the official folders do not have. */
  readonly configuration?: Readonly<Record<string, unknown>>
}

/** The published 6-layer English model. */
export const officialSize: PocketSize = {
  width: 1024,
  layers: 6,
  feedForward: 4096,
  headWidth: 512,
  headBlocks: 6,
  frequencies: 128,
  latent: 32,
  mimi: 512,
  mimiLayers: 2,
  mimiFeedForward: 2048,
  filters: 64,
  ratios: [6, 5, 4],
  blocks: 1,
  stride: 16,
  pieces: 4000,
  hasRowBeforeVoice: true,
  encoder: 'random',
  endBias: -100,
  dtype: 'BF16',
}

/** Heads of 64 as the published ones have, and nothing else of their size. */
export const tinySize: PocketSize = {
  ...officialSize,
  width: 128,
  layers: 2,
  feedForward: 192,
  headWidth: 48,
  headBlocks: 2,
  frequencies: 8,
  latent: 12,
  mimi: 64,
  mimiLayers: 1,
  mimiFeedForward: 96,
  filters: 4,
  ratios: [3, 2],
  stride: 4,
  pieces: 340,
  // Frames of 24 samples, at the frame rate of the published models; the speech ends early.
  configuration: { sample_rate: 300, frame_rate: 12.5, sampling: { tokens_per_second_estimate: 12 } },
}

/** Models that were made, by their size and seed: the folder of each is copied where it is asked for again. */
const made = new Map<string, string>()

/** Writes `model.safetensors`, `tokenizer.model`, `embeddings/alba.safetensors` and the configuration into a folder, which is made. */
export async function makePocketModel(folder: string, size: PocketSize = tinySize, seed = 1): Promise<void> {
  const kind = JSON.stringify([size, seed])
  const earlier = made.get(kind)
  if (earlier) return cp(earlier, folder, { recursive: true })
  const kept = temporaryFolder()
  await writePocketModel(kept, size, seed)
  made.set(kind, kept)
  await cp(kept, folder, { recursive: true })
}

async function writePocketModel(folder: string, size: PocketSize, seed: number): Promise<void> {
  await mkdir(join(folder, 'embeddings'), { recursive: true })
  await writeTensorFile(join(folder, 'model.safetensors'), modelTensors(size, seed))
  if (size.configuration) await writeFile(join(folder, 'config.json'), JSON.stringify(size.configuration))
  await writeFile(join(folder, 'tokenizer.model'), tokenizerModel(size.pieces))
  await writeTensorFile(join(folder, 'embeddings', 'alba.safetensors'), voiceTensors(size, 20, seed))
}

/** A voice of so many rows in the published form with offsets. */
export function voiceTensors(size: PocketSize, rows: number, seed: number): NewTensor[] {
  const random = createRandom(seed)
  return Array.from({ length: size.layers }, (_, layer): NewTensor[] => {
    const shape = [2, 1, rows, size.width / 64, 64]
    const name = `transformer.layers.${layer}.self_attn`
    return [
      { name: `${name}/cache`, dtype: 'F32', shape, data: () => floats(product(shape), 1, random) },
      { name: `${name}/offset`, dtype: 'I64', shape: [1], data: () => BigInt64Array.of(BigInt(rows)) },
    ]
  }).flat()
}

/** Every tensor of a model in the order of its names, with the spread that keeps a random network's numbers in range. */
export function modelTensors(size: PocketSize, seed: number): NewTensor[] {
  const random = createRandom(seed)
  return Object.entries(shapesOf(size))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, shape]) => ({
      name,
      dtype: size.dtype,
      shape,
      data: () => stored(numbersOf(name, shape, size, random), size.dtype),
    }))
}

type Shapes = Record<string, readonly number[]>

function shapesOf(size: PocketSize): Shapes {
  const { width, latent, mimi, stride } = size
  const shapes: Shapes = {
    'flow_lm.conditioner.embed.weight': [size.pieces + 1, width],
    'flow_lm.emb_mean': [latent],
    'flow_lm.emb_std': [latent],
    'flow_lm.bos_emb': [latent],
    'flow_lm.input_linear.weight': [width, latent],
    'flow_lm.out_norm.weight': [width],
    'flow_lm.out_norm.bias': [width],
    'flow_lm.out_eos.weight': [1, width],
    'flow_lm.out_eos.bias': [1],
    'mimi.quantizer.output_proj.weight': [mimi, latent, 1],
    'mimi.upsample.convtr.convtr.weight': [mimi, 1, stride * 2],
  }
  if (size.hasRowBeforeVoice) shapes['flow_lm.bos_before_voice'] = [1, 1, width]
  addTransformer(shapes, 'flow_lm.transformer', size.layers, width, size.feedForward, false)
  addHead(shapes, size)
  addTransformer(shapes, 'mimi.decoder_transformer.transformer', size.mimiLayers, mimi, size.mimiFeedForward, true)
  addDecoder(shapes, size)
  if (size.encoder !== 'absent') {
    const inner = size.hasRowBeforeVoice ? latent : mimi
    shapes['flow_lm.speaker_proj_weight'] = [width, inner]
    shapes['mimi.downsample.conv.conv.weight'] = [inner, mimi, stride * 2]
    addTransformer(shapes, 'mimi.encoder_transformer.transformer', size.mimiLayers, mimi, size.mimiFeedForward, true)
    addEncoder(shapes, size)
  }
  return shapes
}

function addTransformer(
  shapes: Shapes,
  prefix: string,
  layers: number,
  width: number,
  inner: number,
  hasScale: boolean,
): void {
  for (let layer = 0; layer < layers; layer++) {
    const name = `${prefix}.layers.${layer}`
    for (const norm of ['norm1', 'norm2'])
      for (const part of ['weight', 'bias']) shapes[`${name}.${norm}.${part}`] = [width]
    shapes[`${name}.self_attn.in_proj.weight`] = [width * 3, width]
    shapes[`${name}.self_attn.out_proj.weight`] = [width, width]
    shapes[`${name}.linear1.weight`] = [inner, width]
    shapes[`${name}.linear2.weight`] = [width, inner]
    if (hasScale) for (const part of [1, 2]) shapes[`${name}.layer_scale_${part}.scale`] = [width]
  }
}

function addHead(
  shapes: Shapes,
  { headWidth: width, headBlocks, latent, frequencies, width: condition }: PocketSize,
): void {
  const prefix = 'flow_lm.flow_net'
  addLinear(shapes, `${prefix}.cond_embed`, width, condition)
  addLinear(shapes, `${prefix}.input_proj`, width, latent)
  addLinear(shapes, `${prefix}.final_layer.adaLN_modulation.1`, width * 2, width)
  addLinear(shapes, `${prefix}.final_layer.linear`, latent, width)
  for (let block = 0; block < headBlocks; block++) {
    const name = `${prefix}.res_blocks.${block}`
    addLinear(shapes, `${name}.adaLN_modulation.1`, width * 3, width)
    addLinear(shapes, `${name}.mlp.0`, width, width)
    addLinear(shapes, `${name}.mlp.2`, width, width)
    for (const part of ['weight', 'bias']) shapes[`${name}.in_ln.${part}`] = [width]
  }
  for (const end of [0, 1]) {
    const name = `${prefix}.time_embed.${end}`
    addLinear(shapes, `${name}.mlp.0`, width, frequencies * 2)
    addLinear(shapes, `${name}.mlp.2`, width, width)
    shapes[`${name}.mlp.3.alpha`] = [width]
    shapes[`${name}.freqs`] = [frequencies]
  }
}

function addLinear(shapes: Shapes, name: string, output: number, input: number): void {
  shapes[`${name}.weight`] = [output, input]
  shapes[`${name}.bias`] = [output]
}

function addConvolution(shapes: Shapes, name: string, output: number, input: number, kernel: number): void {
  shapes[`${name}.weight`] = [output, input, kernel]
  shapes[`${name}.bias`] = [output]
}

function addResidual(shapes: Shapes, name: string, channels: number): void {
  addConvolution(shapes, `${name}.block.1.conv`, channels / 2, channels, 3)
  addConvolution(shapes, `${name}.block.3.conv`, channels, channels / 2, 1)
}

function addDecoder(shapes: Shapes, { filters, ratios, blocks, mimi }: PocketSize): void {
  const modules = blocks + 2
  let channels = filters * 2 ** ratios.length
  addConvolution(shapes, 'mimi.decoder.model.0.conv', channels, mimi, 7)
  for (const [stage, ratio] of ratios.entries()) {
    const name = `mimi.decoder.model.${stage * modules + 2}.convtr`
    shapes[`${name}.weight`] = [channels, channels / 2, ratio * 2]
    shapes[`${name}.bias`] = [channels / 2]
    channels /= 2
    for (let block = 0; block < blocks; block++)
      addResidual(shapes, `mimi.decoder.model.${stage * modules + 3 + block}`, channels)
  }
  addConvolution(shapes, `mimi.decoder.model.${ratios.length * modules + 2}.conv`, 1, channels, 3)
}

function addEncoder(shapes: Shapes, { filters, ratios, blocks, mimi }: PocketSize): void {
  const modules = blocks + 2
  let channels = filters
  addConvolution(shapes, 'mimi.encoder.model.0.conv', channels, 1, 7)
  for (const [stage, ratio] of ratios.toReversed().entries()) {
    for (let block = 0; block < blocks; block++)
      addResidual(shapes, `mimi.encoder.model.${stage * modules + 1 + block}`, channels)
    addConvolution(shapes, `mimi.encoder.model.${stage * modules + blocks + 2}.conv`, channels * 2, channels, ratio * 2)
    channels *= 2
  }
  addConvolution(shapes, `mimi.encoder.model.${ratios.length * modules + 2}.conv`, mimi, channels, 3)
}

function numbersOf(name: string, shape: readonly number[], size: PocketSize, random: () => number): Float32Array {
  const count = product(shape)
  const constant = (value: number) => new Float32Array(count).fill(value)
  if (name.startsWith('mimi.encoder.model.') && size.encoder === 'zeros') return constant(0)
  if (name === 'flow_lm.out_eos.bias') return constant(size.endBias)
  if (name === 'flow_lm.emb_mean') return constant(0)
  if (name.endsWith('.freqs')) return Float32Array.from({ length: count }, (_, i) => 10_000 ** (-i / count))
  if (/emb_std|alpha|(norm\d?|in_ln)\.weight$/.test(name)) return constant(1)
  if (name.endsWith('.scale')) return constant(0.1)
  if (shape.length === 1) return floats(count, 0.02, random)
  if (name.includes('embed.weight')) return floats(count, 1, random)
  return floats(count, Math.sqrt(1 / (count / shape[name.includes('convtr') ? 1 : 0]!)), random)
}

/** Uniform numbers with the given deviation. */
function floats(count: number, deviation: number, random: () => number): Float32Array {
  const numbers = new Float32Array(count)
  const range = deviation * Math.sqrt(12)
  for (let i = 0; i < count; i++) numbers[i] = (random() - 0.5) * range
  return numbers
}

function stored(numbers: Float32Array, dtype: PocketSize['dtype']): ArrayBufferView {
  if (dtype === 'F32') return numbers
  if (dtype === 'F16') return Uint16Array.from(numbers, halfOf)
  const words = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length)
  const halves = new Uint16Array(numbers.length)
  for (let i = 0; i < words.length; i++) halves[i] = words[i]! >>> 16
  return halves
}

/** IEEE 754 half precision without its smallest numbers, which become zero. */
function halfOf(number: number): number {
  const [word = 0] = new Uint32Array(Float32Array.of(number).buffer)
  const exponent = ((word >>> 23) & 0xff) - 112
  const sign = (word >>> 16) & 0x8000
  return exponent <= 0 ? sign : sign | (exponent << 10) | ((word >>> 13) & 0x3ff)
}

/** A linear congruential generator (Numerical Recipes): quick, and good enough for weights that mean nothing. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** A unigram tokenizer of the published kind: control pieces, 256 bytes, marks, letters, then made-up syllables. */
export function tokenizerModel(pieces: number): Uint8Array {
  const letters = '▁ . ! ... ? , ; : e t a o i n s h r d l u c m w f g y p b v k j x q z'.split(' ')
  const texts = [...letters, ...letters.slice(8).map((letter) => `▁${letter}`), ...syllables()]
  const special = ['<unk>', '<s>', '</s>', '<pad>'].map((text, id) => piece(text, 0, id === 0 ? 2 : 3))
  const bytes = Array.from({ length: 256 }, (_, byte) =>
    piece(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 0, 6),
  )
  // A model of thousands of pieces has some that no text contains.
  const others = Array.from({ length: pieces }, (_, index) => `\u2060${index}`)
  const normal = [...new Set([...texts, ...others])]
    .slice(0, pieces - 260)
    .map((text, rank) => piece(text, -3 - rank / 100, 1))
  return writeMessage([
    ...[...special, ...bytes, ...normal].map((message): Field => ({ field: 1, message })),
    {
      field: 2,
      message: [
        { field: 3, varint: 1 },
        { field: 35, varint: 1 },
      ],
    },
    {
      field: 3,
      message: [
        { field: 1, text: 'identity' },
        { field: 3, varint: 1 },
        { field: 4, varint: 0 },
      ],
    },
  ])
}

function piece(text: string, score: number, type: number): Field[] {
  return [
    { field: 1, text },
    { field: 2, float: score },
    { field: 3, varint: type },
  ]
}

function syllables(): string[] {
  const [consonants, vowels] = [[...'bcdfghjklmnpqrstvwxyz'], [...'aeiou']]
  const open = consonants.flatMap((consonant) => vowels.map((vowel) => consonant + vowel))
  return [
    ...open.map((syllable) => `▁${syllable}`),
    ...open,
    ...open.flatMap((a) => consonants.map((b) => a + b)),
    ...open.flatMap((a) => open.slice(0, 20).map((b) => a + b)),
  ]
}

function product(shape: readonly number[]): number {
  return shape.reduce((total, dimension) => total * dimension, 1)
}
