// With --all only: a neural engine.
/** Both halves of the codec against the numbers of the authors' implementation. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createRotaryTable } from '../../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../../speech/blocks/state-stream.ts'
import { cacheShape, type TransformerShape } from '../../../../speech/blocks/transformer.ts'
import { buildCodecDecoder } from '../../../../speech/engines/qwen3-tts/codec-decoder.ts'
import { buildCodecEncoder, rowsPerFrame } from '../../../../speech/engines/qwen3-tts/codec-encoder.ts'
import { type QwenConfiguration, readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { decoderShape, encoderShape } from '../../../../speech/engines/qwen3-tts/layers.ts'
import type { StreamingGraph } from '../../../../src/inference/graph.ts'
import { openTensorFile, type TensorFile } from '../../../../src/inference/safetensors.ts'
import { openSession, type TensorData } from '../../../../src/inference/session.ts'
import { suite } from '../../../helpers/suite.ts'
import { joined, numbers, transposed } from '../pocket-tts/golden.ts'
import { close, type Golden, goldenSets, limits } from './golden.ts'

const test = suite('the codec of Qwen3-TTS against the reference')
const sets = goldenSets()
if (sets.length === 0) test.skip('every codec of the test data', () => undefined)

type Bench = { readonly configuration: QwenConfiguration; readonly stream: Stream }

/** A decoder or encoder with its stages as outputs. */
async function openBench(
  folder: string,
  build: (file: TensorFile, configuration: QwenConfiguration) => StreamingGraph,
  shapeOf: (configuration: QwenConfiguration) => TransformerShape,
  contextOf: (configuration: QwenConfiguration) => number | undefined,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const configuration = await readConfiguration(folder)
  const weightsFolder = join(folder, 'speech_tokenizer')
  const file = await openTensorFile(join(weightsFolder, 'model.safetensors'))
  const { model, states } = build(file, configuration)
  const session = await openSession(model, { name: 'codec', weightsFolder })
  const shape = shapeOf(configuration)
  const rotary = createRotaryTable(shape.headSize, shape.period, 'power')
  const cache = cacheShape(shape, contextOf(configuration))
  try {
    await work({ configuration, stream: createStream({ session, states, shape: cache, rotary, capacity: 1 }) })
  } finally {
    await session.close()
    await file.close()
  }
}

function decoding(folder: string, work: (bench: Bench) => Promise<void>, stages = false): Promise<void> {
  return openBench(
    folder,
    (file, { codec }) => buildCodecDecoder(file, codec, { stages }),
    ({ codec }) => decoderShape(codec),
    ({ codec }) => codec.decoder_config.sliding_window,
    work,
  )
}

function codesTensor(codes: readonly number[], groups: number): TensorData {
  return { type: 'int64', shape: [codes.length / groups, groups], data: BigInt64Array.from(codes, BigInt) }
}

function clamped(samples: Float32Array): Float32Array {
  return samples.map((sample) => Math.min(1, Math.max(-1, sample)))
}

/** The samples of some frames, in pieces of so many. */
async function decode({ stream, configuration }: Bench, codes: readonly number[], size: number): Promise<Float32Array> {
  const groups = configuration.codec.decoder_config.num_quantizers
  stream.reset()
  const pieces: Float32Array[] = []
  for (let at = 0; at < codes.length; at += size * groups) {
    const piece = codes.slice(at, at + size * groups)
    const { audio } = await stream.run({ codes: codesTensor(piece, groups) }, piece.length / groups)
    pieces.push(numbers(audio))
  }
  return clamped(joined(pieces))
}

for (const { models, codec } of sets)
  for (const { name, folder } of models) {
    test(`${name}: every stage from codes to samples is that of the reference`, () =>
      decoding(
        folder,
        async ({ stream, configuration }) => {
          const groups = configuration.codec.decoder_config.num_quantizers
          const codes = codec.integers('dec_codes')
          const outputs = await stream.run({ codes: codesTensor(codes, groups) }, codes.length / groups)
          const stages = Object.keys(outputs).filter((stage) => codec.has(`dec_${stage}`))
          assert.ok(stages.length > 15, `${stages}`)
          for (const stage of stages) {
            const expected = codec.floats(`dec_${stage}`)
            // Convolutions are recorded as [channels, samples].
            const asRecorded =
              `${outputs[stage]!.shape}` === `${expected.shape}` ? numbers(outputs[stage]) : transposed(outputs[stage]!)
            close(`dec_${stage}`, asRecorded, expected.data, limits.layers)
          }
          const last = configuration.codec.decoder_config.upsample_rates.length + 2
          close(`dec_decoder${last}`, numbers(outputs['audio']), codec.floats(`dec_decoder${last}`).data, limits.values)
          close('dec_pcm', clamped(numbers(outputs['audio'])), codec.floats('dec_pcm').data, limits.values)
        },
        true,
      ))

    test(`${name}: frame by frame, and in pieces of any size, the codec makes the same samples as at once`, () =>
      decoding(folder, async (bench) => {
        const codes = codec.integers('dec_codes')
        for (const size of [1, 3, 5])
          close(`in pieces of ${size}`, await decode(bench, codes, size), codec.floats('dec_pcm').data, limits.values)
      }))

    test(`${name}: far behind the window, frame by frame still equals one call over everything`, () =>
      decoding(folder, async (bench) => {
        const samples = await decode(bench, codec.integers('dec_long_codes'), 1)
        const expected = codec.floats('dec_long_whole_pcm_frames_296_304').data
        const at = 296 * bench.configuration.samplesPerFrame
        close('frames 296 to 303', samples.subarray(at, at + expected.length), expected, limits.values)
      }))

    test(`${name}: from a recording come the codes of the reference, at once and in pieces`, () =>
      listening(folder, (bench) => checkEncoder(bench, codec)))
  }

function listening(folder: string, work: (bench: Bench) => Promise<void>): Promise<void> {
  return openBench(
    folder,
    (file, { codec }) => buildCodecEncoder(file, codec, { stages: true }),
    ({ codec }) => encoderShape(codec),
    () => undefined,
    work,
  )
}

async function checkEncoder({ stream, configuration }: Bench, codec: Golden): Promise<void> {
  const { data: clip } = codec.floats('enc_audio')
  for (const frames of [1000, 2, 5]) {
    stream.reset()
    const codes: number[] = []
    const stages = new Map<string, Float32Array[]>()
    const size = frames * configuration.samplesPerFrame
    for (let at = 0; at < clip.length; at += size) {
      const data = clip.slice(at, at + size)
      const first: TensorData = { type: 'bool', shape: [1], data: Uint8Array.of(at === 0 ? 1 : 0) }
      const rows = Math.ceil(data.length / (configuration.samplesPerFrame / rowsPerFrame))
      const outputs = await stream.run({ audio: { type: 'float32', shape: [data.length, 1], data }, first }, rows)
      codes.push(...[...(outputs['codes']!.data as BigInt64Array)].map(Number))
      for (const [name, value] of Object.entries(outputs))
        if (codec.has(`enc_${name}`) && name !== 'codes')
          stages.set(name, [...(stages.get(name) ?? []), numbers(value)])
    }
    assert.ok(stages.size >= 4, `${[...stages.keys()]}`)
    for (const [name, pieces] of stages) {
      const expected = codec.floats(`enc_${name}`)
      const rows = joined(pieces)
      const isByRow = name === 'transformer'
      const [channels = 1, positions = 1] = isByRow ? expected.shape.toReversed() : expected.shape
      // Of the first convolutions the beginning was recorded.
      const part = rows.subarray(0, positions * channels)
      const asRecorded = isByRow ? part : transposed({ type: 'float32', shape: [positions, channels], data: part })
      close(`enc_${name} in pieces of ${frames}`, asRecorded, expected.data, limits.layers)
    }
    assert.equal(codes, codec.integers('enc_codes'), `codes in pieces of ${frames}`)
  }
}

test.run()
