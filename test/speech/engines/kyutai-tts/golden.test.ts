// With --all only: a neural engine.
/** Words, conditions, backbone, depth transformer and codec against the numbers of the authors' implementation. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createChooser } from '../../../../speech/engines/kyutai-tts/choice.ts'
import { codecOf, codecShape, openCodecFile } from '../../../../speech/engines/kyutai-tts/codec.ts'
import { addPositions, voiceSlots } from '../../../../speech/engines/kyutai-tts/conditions.ts'
import { readConfiguration } from '../../../../speech/engines/kyutai-tts/configuration.ts'
import { type GenerationProbe, generateFrames } from '../../../../speech/engines/kyutai-tts/generation.ts'
import { readCodecGeometry } from '../../../../speech/engines/kyutai-tts/geometry.ts'
import { type KyutaiModel, openKyutaiModel } from '../../../../speech/engines/kyutai-tts/model.ts'
import { readScript } from '../../../../speech/engines/kyutai-tts/script.ts'
import { readVoiceFile } from '../../../../speech/engines/kyutai-tts/voice-file.ts'
import { joinVoices } from '../../../../speech/engines/kyutai-tts/voices.ts'
import { createWordMachine } from '../../../../speech/engines/kyutai-tts/words.ts'
import { loadCodec } from '../../../../speech/engines/neural/codec.ts'
import { readPieces } from '../../../../speech/engines/neural/sentence-pieces.ts'
import type { TensorData } from '../../../../src/inference/session.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { pluck } from '../../../helpers/pluck.ts'
import { suite } from '../../../helpers/suite.ts'
import { joined, numbers, transposed } from '../pocket-tts/golden.ts'
import { close } from '../qwen3-tts/golden.ts'
import { type GoldenModel, goldenModels, limits } from './golden.ts'

const test = suite('Kyutai TTS against the reference')
const models = goldenModels()
if (models.length === 0) test.skip('every model of the test data', () => undefined)

async function withModel(
  { folder }: GoldenModel,
  work: (model: KyutaiModel) => Promise<void>,
  options: { readonly codebooks?: number } = {},
): Promise<void> {
  const model = await openKyutaiModel({
    folder,
    cacheFolder: temporaryFolder(),
    precision: 'float32',
    stages: true,
    ...options,
  })
  try {
    await work(model)
  } finally {
    await model.close()
  }
}

for (const golden of models) {
  test(`${golden.name}: scripts become the words and pauses of the reference`, async () => {
    const { model, codec } = await readConfiguration(golden.folder)
    const tokenizer = readPieces(await readFile(join(golden.folder, model.tokenizer_name)), model.tokenizer_name)
    const read = (script: readonly string[], padding: number) =>
      readScript(script, tokenizer, { frameRate: codec.frame_rate, padding }).entries
    for (const { script, padding_between: padding, entries } of golden.machine.scripts)
      assert.equal(read(script, padding), entries, `${script.join(' / ')} with ${padding}`)
    const { text, padding_between: padding, entries } = golden.generation
    assert.equal(read([text].flat(), padding), entries)
  })

  test(`${golden.name}: the word machine goes the ways of the reference, with and without a second stream`, async () => {
    const { model, codec } = await readConfiguration(golden.folder)
    const tokenizer = readPieces(await readFile(join(golden.folder, model.tokenizer_name)), model.tokenizer_name)
    for (const way of golden.machine.machine) {
      const script = [way.script].flat()
      const settings = { frameRate: codec.frame_rate, padding: way.padding_between }
      const machine = createWordMachine(readScript(script, tokenizer, settings).entries, {
        pad: model.existing_text_padding_id,
        card: model.text_card + 1,
        ahead: way.second_stream_ahead,
      })
      for (const [step, [chosen, fed, consumed]] of way.trace_predicted_fed_consumed.entries()) {
        const before = machine.words.length
        assert.is(machine.next(chosen), fed, `step ${step}`)
        assert.is(machine.words.length - before, consumed, `step ${step}`)
      }
      assert.is(machine.endStep, way.end_step)
      assert.equal(pluck(machine.words, 'step'), way.consumption_times)
    }
  })

  test(`${golden.name}: conditions are those of the reference, for every guidance and for none`, () =>
    withModel(golden, async ({ conditions, configuration }) => {
      const { cfg_coef: guidance } = golden.generation
      close('condition_sum', conditions.sum(guidance), golden.floats('condition_sum').data, limits.values)
      close('condition_sum_no_cfg', conditions.sum(), golden.floats('condition_sum_no_cfg').data, limits.values)
      const all = configuration.guidance.map((value) => conditions.sum(value))
      close('condition_sum_all_cfg', joined(all), golden.floats('condition_sum_all_cfg').data, limits.values)
      const { dim: width, fuser } = configuration.model
      const { data, frames } = await voiceOf(golden, configuration.model)
      const rows = joined([...data.map(conditions.voice), conditions.silence(frames * (voiceSlots - data.length))])
      close('cond_speaker_wavs', rows, golden.floats('cond_speaker_wavs').data, limits.values)
      const placed = addPositions(rows, width, 0, fuser.cross_attention_pos_emb_scale)
      close('condition_cross', placed, golden.floats('condition_cross').data, limits.values)
      assert.is(golden.integers('cond_speaker_mask').filter((used) => used === 1).length, data.length * frames)
    }))

  test(`${golden.name}: every step has the numbers of the reference, and the same tokens are chosen`, () =>
    withModel(golden, async (model) => {
      const made = await generate(model, golden)
      assert.equal(made.inputs, golden.integers('step_input_tokens'))
      assert.equal(made.sampled, golden.integers('step_text_sampled'))
      assert.equal(made.fed, golden.integers('step_text_fed'))
      assert.equal(made.depthInputs, golden.integers('dep_input_tokens'))
      assert.equal(made.depthChosen, golden.integers('dep_argmax'))
      assert.equal(made.frames, golden.integers('frames'))
      close('step_hidden', joined(made.hidden), golden.floats('step_hidden').data, limits.values)
      close('step_text_logits', joined(made.logits), golden.floats('step_text_logits').data, limits.values)
      close('dep_logits', joined(made.depthLogits), golden.floats('dep_logits').data, limits.values)
      close('step0_layers', joined(made.firstLayers), golden.floats('step0_layers').data, limits.values)
      assert.is(made.endStep, golden.generation.end_step)
      assert.equal(made.words, golden.generation.transcript)
    }))

  test(`${golden.name}: the codec has the numbers of the reference, in one call and frame by frame`, async () => {
    const configuration = await readConfiguration(golden.folder)
    await using file = closing(await openCodecFile(golden.folder, configuration))
    const geometry = readCodecGeometry(file, configuration)
    const { width } = codecShape(geometry, configuration)
    const codes = codesByFrame(golden)
    const books = codes[0]!.length
    const decoder = await loadCodec(codecOf(file, geometry, configuration, books, { stages: true, window: 'row' }))
    const whole = await decoder.openStream().run(codesTensor(codes), codes.length * geometry.stride)
    close('mimi_latent', transposed(whole['quantizer']!), golden.floats('mimi_latent').data, limits.values)
    close('mimi_upsample', transposed(whole['upsample']!), golden.floats('mimi_upsample').data, limits.values)
    close('mimi_transformer', transposed(whole['transformer']!), golden.floats('mimi_transformer').data, limits.values)
    close('mimi_pcm', numbers(whole['audio']), golden.floats('mimi_pcm').data, limits.samples)
    assert.is(whole['quantizer']!.shape[1], width)
    await decoder.close()

    const streaming = await loadCodec(codecOf(file, geometry, configuration, books))
    for (const size of [1, 3, codes.length]) {
      const signal = streaming.open()
      const pieces: Float32Array[] = []
      for (let at = 0; at < codes.length; at += size)
        pieces.push(await signal.decode(Int32Array.from(codes.slice(at, at + size).flat())))
      close(`${size} at a time`, joined(pieces), golden.floats('mimi_pcm_framewise').data, limits.samples)
    }
    await streaming.close()

    const fewer = await loadCodec(codecOf(file, geometry, configuration, 24, { window: 'row' }))
    const part = codes.map((frame) => frame.slice(0, 24))
    const { audio } = await fewer.openStream().run(codesTensor(part), codes.length * geometry.stride)
    const expected = golden.floats('mimi_pcm_fewer_codebooks').data
    close('mimi_pcm_fewer_codebooks', numbers(audio), expected, limits.samples)
    await fewer.close()
  })
}

function codesByFrame(golden: GoldenModel): number[][] {
  const codes = golden.integers('mimi_codes')
  const frames = golden.floats('mimi_latent').shape[2]!
  const books = codes.length / frames
  return Array.from({ length: frames }, (_, frame) =>
    Array.from({ length: books }, (_, book) => codes[book * frames + frame]!),
  )
}

function codesTensor(codes: readonly number[][]): { codes: TensorData } {
  const data = BigInt64Array.from(codes.flat(), BigInt)
  return { codes: { type: 'int64', shape: [codes.length, codes[0]!.length], data } }
}

/** Its voice, or those of its script. */
async function voiceOf({ voices }: GoldenModel, model: KyutaiModel['configuration']['model']) {
  return joinVoices(await Promise.all(voices.map((path) => readVoiceFile(path, model))))
}

async function memoryOf(model: KyutaiModel, golden: GoldenModel) {
  return model.openMemory().of(await voiceOf(golden, model.configuration.model))
}

async function generate(model: KyutaiModel, golden: GoldenModel) {
  const made = {
    inputs: [] as number[],
    rows: [] as Record<string, Float32Array>[],
    sampled: [] as number[],
    fed: [] as number[],
    hidden: [] as Float32Array[],
    logits: [] as Float32Array[],
    firstLayers: [] as Float32Array[],
    depthInputs: [] as number[],
    depthChosen: [] as number[],
    depthLogits: [] as Float32Array[],
    frames: [] as number[],
    words: [] as [string, number][],
    endStep: undefined as number | undefined,
  }
  const probe: GenerationProbe = {
    backbone(tokens, inputs, outputs, chosen, fed) {
      made.inputs.push(...tokens)
      made.rows.push(
        Object.fromEntries(Object.entries(inputs).map(([name, tensor]) => [name, numbers(tensor).slice()])),
      )
      made.sampled.push(chosen)
      made.fed.push(fed)
      made.hidden.push(numbers(outputs['hidden']).slice())
      made.logits.push(numbers(outputs['logits']).slice())
      if (made.hidden.length > 1) return
      for (let layer = 0; outputs[`layer_${layer}`]; layer++)
        made.firstLayers.push(numbers(outputs[`layer_${layer}`]).slice())
    },
    depth(_book, before, scores, code) {
      made.depthInputs.push(before)
      made.depthLogits.push(scores.slice())
      made.depthChosen.push(code)
    },
    frame: (text, codes) => made.frames.push(text, ...codes),
  }
  const utterance = {
    entries: golden.generation.entries,
    condition: model.conditions.sum(golden.generation.cfg_coef),
    memory: await memoryOf(model, golden),
  }
  const chooser = createChooser(model.configuration.model, { greedy: true })
  const generated = generateFrames(model, model.openStreams(), utterance, chooser, {
    probe,
    onWords(words, endStep) {
      made.words = words.map(({ text, step }) => [text, step])
      made.endStep = endStep
    },
  })
  let heard = 0
  for await (const codes of generated) heard += codes.length
  const skipped = model.configuration.audioDelay * (model.codebooks + 1)
  assert.is(heard, ((made.frames.length - skipped) / (model.codebooks + 1)) * model.codebooks)
  return made
}

test.run()
