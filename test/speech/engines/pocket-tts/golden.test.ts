// With --all only: a neural engine.
/** The language model, the flow head and the loop against the numbers of the authors' implementation. */
import { existsSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { createRotaryTable } from '../../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../../speech/blocks/state-stream.ts'
import { cacheShape } from '../../../../speech/blocks/transformer.ts'
import { buildLanguageModel } from '../../../../speech/engines/pocket-tts/flow-lm.ts'
import { generateLatents, prefillVoice } from '../../../../speech/engines/pocket-tts/generation.ts'
import type { PocketModel } from '../../../../speech/engines/pocket-tts/model.ts'
import { chunkText } from '../../../../speech/engines/pocket-tts/text.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { openSession, type Session } from '../../../../src/inference/session.ts'
import { suite } from '../../../helpers/suite.ts'
import {
  assertClose,
  type FloatArray,
  flatCache,
  floats,
  type GoldenFolder,
  goldenFolders,
  joined,
  numbers,
  openGolden,
  readIntegers,
  tolerance,
} from './golden.ts'

const test = suite('pocket-tts against the reference')
const folders = goldenFolders()
if (folders.length === 1) test.skip('every model folder of the test data', () => undefined)

/** A stream of the language model with its layers as outputs, and its model. */
interface Bench {
  readonly model: PocketModel
  readonly stream: Stream
  readonly session: Session
  /** Feeds rows of embeddings or latents and gives the outputs. */
  feed(rows: { embeddings?: FloatArray | undefined; latents?: Float32Array }): ReturnType<Stream['run']>
}

for (const folder of folders) {
  const check = async (work: (bench: Bench) => Promise<void>) => {
    const bench = await openBench(folder)
    try {
      await work(bench)
    } finally {
      await bench.session.close()
      await bench.model.close()
    }
  }

  test(`${folder.name}: tokens and their rows are those of the reference`, () =>
    check(async ({ model }) => {
      const ids = readIntegers(folder.has('tokens') ? folder.path('tokens.npy') : `${folder.model}/golden/tokens.npy`)
      assertClose(numbers(model.embed(ids)), folder.read('text_embeddings').data, 0, 'text_embeddings')
    }))

  test(`${folder.name}: voice, text and every step go through the cache as in the reference`, () =>
    check(async (bench) => {
      await prefill(bench, folder)
      const input = latentInputs(folder, 'ar', bench.model)
      const [steps, latent] = [input.length / bench.model.geometry.latent, bench.model.geometry.latent]
      const conditions: Float32Array[] = []
      const ends: Float32Array[] = []
      for (let step = 0; step < steps; step++) {
        const outputs = await bench.feed({ latents: input.subarray(step * latent, (step + 1) * latent) })
        if (step === 0 && folder.has('ar_step0_layers'))
          assertClose(layersOf(outputs), folder.read('ar_step0_layers').data, tolerance.values, 'ar_step0_layers')
        conditions.push(numbers(outputs['hidden']))
        ends.push(numbers(outputs['end']))
      }
      assertClose(joined(conditions), folder.read('ar_c').data, tolerance.values, 'ar_c')
      assertClose(joined(ends), folder.read('ar_eos_logit').data, tolerance.values, 'ar_eos_logit')
      if (folder.has('ar_kv_final'))
        assertClose(
          flatCache(bench.stream.cache.copy()),
          folder.read('ar_kv_final').data,
          tolerance.values,
          'ar_kv_final',
        )
    }))

  for (const name of ['ar', 'ar2'].filter((prefix) => folder.has(`${prefix}_next`)))
    test(`${folder.name}: from recorded noise, ${name} makes the recorded latents`, () =>
      check(async (bench) => {
        await prefill(bench, folder)
        await checkLatents(bench, folder, name)
      }))

  if (existsSync(folder.path('generation.json')))
    test(`${folder.name}: the loop ends where the reference ends`, () => check((bench) => checkLoop(bench, folder)))
}

async function openBench(folder: GoldenFolder): Promise<Bench> {
  const model = await openGolden(folder)
  const file = await openTensorFile(`${folder.model}/model.safetensors`)
  const shape = model.languageModel
  const { latent } = model.geometry
  const graph = buildLanguageModel(file, shape, latent, { stages: true })
  const session = await openSession(graph, { name: 'flow_lm', weightsFolder: folder.model })
  await file.close()
  const rotary = createRotaryTable(shape.headSize, shape.period)
  // No capacity at first: growing must not lose a row.
  const stream = createStream({ session, shape: cacheShape(shape), rotary, capacity: 1 })
  return {
    model,
    stream,
    session,
    feed({ embeddings, latents = new Float32Array() }) {
      const rows = embeddings?.shape.at(-2) ?? 0
      const frames = latents.length / latent
      const inputs = {
        embeddings: floats([rows, shape.width], embeddings?.data),
        latents: floats([frames, latent], latents),
      }
      return stream.run(inputs, rows + frames)
    },
  }
}

/** The rows of the voice; a golden folder with its own conditioning rows has its own prompt. */
function voicePrompt(folder: GoldenFolder, model: PocketModel): FloatArray {
  if (folder.has('voice_prompt') || !folder.has('enc_25f_cond')) return folder.read('voice_prompt')
  const data = joined([model.rowBeforeVoice ?? new Float32Array(), folder.read('enc_25f_cond').data])
  const { width } = model.languageModel
  return { shape: [1, data.length / width, width], data }
}

async function prefill({ feed, stream, model }: Bench, folder: GoldenFolder): Promise<void> {
  const compare = (name: string, data: Float32Array) =>
    folder.has(name) && assertClose(data, folder.read(name).data, tolerance.values, name)
  const voice = await feed({ embeddings: voicePrompt(folder, model) })
  compare('voice_prefill_hidden', numbers(voice['hidden']))
  compare('voice_prefill_layers', layersOf(voice))
  compare('voice_kv', flatCache(stream.cache.copy()))
  const text = await feed({ embeddings: folder.read('text_embeddings') })
  compare('text_prefill_hidden', numbers(text['hidden']))
  compare('text_kv', flatCache(stream.cache.copy()))
}

/** Row 0 is recorded as NaN: the model's own first latent. A folder without inputs feeds every latent into the next step. */
function latentInputs(folder: GoldenFolder, name: string, model: PocketModel): Float32Array {
  const next = folder.read(`${name}_next`).data
  const { latent } = model.geometry
  return joined([model.firstLatent, next.subarray(0, next.length - latent)])
}

function layersOf(outputs: Awaited<ReturnType<Stream['run']>>): Float32Array {
  const layers = Object.keys(outputs).filter((name) => name.startsWith('layer_'))
  return joined(layers.map((_, layer) => numbers(outputs[`layer_${layer}`])))
}

async function checkLatents({ model, feed }: Bench, folder: GoldenFolder, name: string): Promise<void> {
  const { latent } = model.geometry
  const { width } = model.languageModel
  const next = folder.read(`${name}_next`).data
  const noise = folder.read(`${name}_noise`).data
  const input = latentInputs(folder, name, model)
  const flow = folder.has(`${name}_flow`) ? folder.read(`${name}_flow`) : undefined
  const flowSteps = flow?.shape[1] ?? model.configuration.sampling.flowSteps
  const stepped = await openGolden(folder, { flowSteps })
  for (let step = 0; step < next.length / latent; step++) {
    const part = (array: Float32Array) => array.subarray(step * latent, (step + 1) * latent)
    const { hidden } = await feed({ latents: part(input) })
    let x: Float32Array = part(noise).slice()
    for (let i = 0; i < flowSteps; i++) {
      const velocity = await stepped.velocity(i, floats([1, width], numbers(hidden)), floats([1, latent], x))
      const at = (step * flowSteps + i) * latent
      if (flow)
        assertClose(velocity, flow.data.subarray(at, at + latent), tolerance.values, `${name}_flow ${step}.${i}`)
      x = x.map((value, index) => value + velocity[index]! / flowSteps)
    }
    assertClose(x, part(next), tolerance.values, `${name}_next ${step}`)
  }
  await stepped.close()
}

interface Recorded {
  readonly text: string
  readonly token_ids: readonly number[]
  readonly frames_after_eos: number
  readonly frames_emitted: number
  readonly max_gen_len: number
}

async function checkLoop({ model }: Bench, folder: GoldenFolder): Promise<void> {
  const recorded = JSON.parse(readFileSync(folder.path('generation.json'), 'utf8')) as Recorded
  const { latent, samplesPerFrame } = model.geometry
  const frameRate = model.configuration.sampleRate / samplesPerFrame
  const [chunk] = chunkText(recorded.text, model.tokenizer, model.configuration, frameRate)
  assert.equal(chunk?.ids, recorded.token_ids)
  assert.is(chunk?.frameLimit, recorded.max_gen_len)

  const prompt = voicePrompt(folder, model)
  const before = model.rowBeforeVoice?.length ?? 0
  const rows = (prompt.data.length - before) / model.languageModel.width
  const stream = model.openLanguageStream()
  stream.reset(await prefillVoice(model, stream, { rows, data: prompt.data.subarray(before) }))
  const noise = folder.read('ar_noise').data
  let step = 0
  const source = () => noise.slice(step * latent, ++step * latent)
  const latents: Float32Array[] = []
  const tail = { ...chunk!, framesAfterEnd: recorded.frames_after_eos }
  for await (const frame of generateLatents(model, stream, tail, source)) latents.push(frame)
  assert.is(latents.length, recorded.frames_emitted)
  const expected = folder.read('ar_next').data.subarray(0, latents.length * latent)
  assertClose(joined(latents), expected, tolerance.values, 'the latents of the loop')
}

test.run()
