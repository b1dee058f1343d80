// With --all only: a neural engine.
/** The codec, the voices and the rate conversion against the numbers of the authors' implementation. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { resample } from '../../../../speech/audio/resample.ts'
import type { CacheShape } from '../../../../speech/blocks/key-value-cache.ts'
import { buildMimiEncoder, codecShape } from '../../../../speech/blocks/mimi.ts'
import { createRotaryTable } from '../../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../../speech/blocks/state-stream.ts'
import { cacheShape, type TransformerShape } from '../../../../speech/blocks/transformer.ts'
import { codecOf } from '../../../../speech/engines/pocket-tts/codec.ts'
import { prefillVoice } from '../../../../speech/engines/pocket-tts/generation.ts'
import type { PocketModel } from '../../../../speech/engines/pocket-tts/model.ts'
import { readVoiceFile } from '../../../../speech/engines/pocket-tts/voice-file.ts'
import type { StreamingGraph } from '../../../../src/inference/graph.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { openSession } from '../../../../src/inference/session.ts'
import { suite } from '../../../helpers/suite.ts'
import {
  assertClose,
  flatCache,
  floats,
  type GoldenFolder,
  goldenFolders,
  joined,
  numbers,
  openGolden,
  readFloats,
  tolerance,
  transposed,
} from './golden.ts'

const test = suite('the codec and the voices of pocket-tts against the reference')
const folders = goldenFolders()
if (folders.length === 1) test.skip('every model folder of the test data', () => undefined)

for (const folder of folders) {
  const check = async (work: (model: PocketModel) => Promise<void>) => {
    const model = await openGolden(folder)
    await work(model).finally(() => model.close())
  }

  test(`${folder.name}: all frames decoded at once are those of the reference, at every stage`, () =>
    check(async (model) => {
      const shape = codecShape(model.geometry.decoder, model.configuration)
      const build: Build = (file) => codecOf(file, model.geometry, model.configuration, { stages: true }).graph
      await withStream(folder, model, shape, build, async (stream) => {
        const outputs = await decode(stream, model, folder.read('ar_next').data)
        for (const stage of ['quantizer', 'upsample', 'transformer'])
          if (folder.has(`dec_${stage}`))
            assertClose(transposed(outputs[stage]!), folder.read(`dec_${stage}`).data, tolerance.values, `dec_${stage}`)
        assertClose(numbers(outputs['audio']), folder.read('dec_pcm').data, tolerance.samples, 'dec_pcm')
      })
    }))

  for (const groups of [[1], [1, 3, 2, 6], [5]])
    test(`${folder.name}: frames decoded ${groups} at a time equal all at once`, () =>
      check(async (model) => {
        const { latent } = model.geometry
        const all = folder.read('ar_next').data
        const decoder = model.openDecoder()
        const pieces: Float32Array[] = []
        for (let at = 0, call = 0; at < all.length; call++) {
          const end = at + groups[call % groups.length]! * latent
          pieces.push(await decoder.decode(all.subarray(at, end)))
          at = end
        }
        const expected = folder.has('dec_pcm_framewise') ? 'dec_pcm_framewise' : 'dec_pcm'
        assertClose(joined(pieces), folder.read(expected).data, tolerance.samples, expected)
      }))

  for (const clip of ['enc_2f', 'enc_25f', 'enc_ragged'].filter((name) => folder.has(`${name}_cond`))) {
    test(`${folder.name}: the clip ${clip} gives the reference's conditioning rows, at every stage`, () =>
      check((model) => checkEncoder(model, folder, clip)))
  }

  if (folder.gelu === undefined)
    for (const name of voiceFiles(folder.model))
      test(`${folder.name}: the voice file ${name} is the recorded voice`, () =>
        check(async (model) => {
          const shape: CacheShape = cacheShape(model.languageModel)
          const voice = await readVoiceFile(join(folder.model, name), shape)
          const rows =
            voice.kind === 'cache' ? voice.cache : await prefillVoice(model, model.openLanguageStream(), voice)
          assertClose(flatCache(rows), folder.read('voice_kv').data, tolerance.values, name)
        }))

  for (const rate of resampledRates(folder))
    test(`${folder.name}: a clip of ${rate} Hz is converted as the reference converts it`, () => {
      const input = readFloats(folder.path(`resample_${rate}_in.npy`)).data
      const expected = readFloats(folder.path(`resample_${rate}_out.npy`)).data
      assertClose(resample(input, rate, 24_000), expected, tolerance.samples, `${rate} Hz`)
    })
}

type Build = (file: Awaited<ReturnType<typeof openTensorFile>>) => StreamingGraph

/** A stream over a graph with its stages as outputs. */
async function withStream(
  folder: GoldenFolder,
  model: PocketModel,
  shape: TransformerShape,
  build: Build,
  work: (stream: Stream) => Promise<void>,
): Promise<void> {
  const file = await openTensorFile(join(folder.model, 'model.safetensors'))
  const { model: graph, states } = build(file)
  const session = await openSession(graph, { name: 'mimi', weightsFolder: folder.model })
  await file.close()
  const rotary = createRotaryTable(shape.headSize, shape.period)
  const cache = cacheShape(shape, model.configuration.mimi.context)
  await work(createStream({ session, states, rotary, shape: cache, capacity: 1 })).finally(() => session.close())
}

function decode(stream: Stream, { geometry }: PocketModel, latents: Float32Array): ReturnType<Stream['run']> {
  const frames = latents.length / geometry.latent
  return stream.run({ latents: floats([frames, geometry.latent], latents) }, frames * geometry.decoder.stride)
}

async function checkEncoder(model: PocketModel, folder: GoldenFolder, clip: string): Promise<void> {
  const encoder = model.geometry.encoder!
  const shape = codecShape(encoder, model.configuration)
  const build: Build = (file) => buildMimiEncoder(file, encoder, shape, { stages: true })
  await withStream(folder, model, shape, build, async (stream) => {
    const audio = folder.read(`${clip}_audio`).data
    const frames = Math.ceil(audio.length / model.geometry.samplesPerFrame)
    const filled = new Float32Array(frames * model.geometry.samplesPerFrame)
    filled.set(audio)
    const first = { type: 'bool' as const, shape: [1], data: Uint8Array.of(1) }
    const outputs = await stream.run({ audio: floats([filled.length, 1], filled), first }, frames * encoder.stride)
    for (const stage of ['seanet', 'transformer', 'latent'])
      if (folder.has(`${clip}_${stage}`))
        assertClose(
          transposed(outputs[stage]!),
          folder.read(`${clip}_${stage}`).data,
          tolerance.values,
          `${clip}_${stage}`,
        )
    assertClose(numbers(outputs['conditions']), folder.read(`${clip}_cond`).data, tolerance.values, `${clip}_cond`)
  })
}

function voiceFiles(model: string): string[] {
  return readdirSync(model).filter((name) => /^voice.*\.safetensors$/.test(name))
}

function resampledRates({ path }: GoldenFolder): number[] {
  const names = readdirSync(path('.')).map((name) => /^resample_(\d+)_in\.npy$/.exec(name)?.[1])
  return names.filter((rate) => rate !== undefined).map(Number)
}

test.run()
