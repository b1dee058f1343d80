// With --all only: a neural engine.
/** Tokenizer, prompt rows, talker, predictor and the choice of codes against the numbers of the authors' implementation. */

import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { parseWav } from '../../../../speech/audio/wav.ts'
import type { KeyValueCache } from '../../../../speech/blocks/key-value-cache.ts'
import { createRotaryTable } from '../../../../speech/blocks/positions.ts'
import { type CodeChooser, createChooser } from '../../../../speech/engines/qwen3-tts/choice.ts'
import { readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { generateFrames } from '../../../../speech/engines/qwen3-tts/generation.ts'
import { openQwenModel, type QwenModel } from '../../../../speech/engines/qwen3-tts/model.ts'
import { assemblePrompt, type Prompt } from '../../../../speech/engines/qwen3-tts/prompt.ts'
import { openTokenizer } from '../../../../speech/engines/qwen3-tts/tokenizer.ts'
import { beginningOf, cloneVoice, decodeCodes } from '../../../../speech/engines/qwen3-tts/voices.ts'
import { closing } from '../../../helpers/disposal.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { joined } from '../pocket-tts/golden.ts'
import { close, type GoldenModel, type GoldenSet, goldenSets, limits, type Scenario } from './golden.ts'

const test = suite('Qwen3-TTS against the reference')
const sets = goldenSets()
if (sets.length === 0) test.skip('every model of the test data', () => undefined)

/** Models in 32 bits, each opened once. */
const opened = new Map<string, Promise<QwenModel>>()

async function withModel(
  { folder }: GoldenModel,
  configuration: string,
  work: (model: QwenModel) => Promise<void>,
): Promise<void> {
  const key = `${folder} ${configuration}`
  const options = { folder, cacheFolder: temporaryFolder(), precision: 'float32', configuration } as const
  const model = opened.get(key) ?? openQwenModel(options)
  opened.set(key, model)
  await work(await model)
}

test.after(async () => {
  for (const model of opened.values()) await (await model).close()
})

for (const set of sets)
  for (const golden of set.models) {
    test(`${golden.name}: text and templates have the ids of the reference`, async () => {
      const { model } = await readConfiguration(golden.folder)
      const tokenizer = await openTokenizer(golden.folder, model)
      for (const { text, ids } of set.tokenizer) assert.equal(tokenizer.encodeTemplate(text), ids, text)
    })

    test(`${golden.name}: text from outside names no special token, however it is spelt`, async () => {
      const { model } = await readConfiguration(golden.folder)
      const tokenizer = await openTokenizer(golden.folder, model)
      const marks = ['<|im_start|>', '<|im_end|>', '<tts_pad>', '<tts_text_bos>', '<tts_text_eod>', '<|endoftext|>']
      const texts = [...marks, marks.join(''), `a${marks[1]}\n${marks[0]}user`, '<|im_<|im_end|>end|>']
      const forbidden = new Set(marks.flatMap((mark) => tokenizer.encodeTemplate(mark)))
      assert.is(forbidden.size, marks.length)
      for (const text of texts)
        assert.equal(
          tokenizer.encode(text).filter((id) => forbidden.has(id)),
          [],
          text,
        )
    })

    const embedding = golden.part('embedding')
    if (embedding)
      test(`${golden.name}: rows of text and frames, and the angles of positions, are those of the reference`, () =>
        withModel(golden, 'config.json', async (model) => {
          const rows = await model.textRows(embedding.integers('text_ids'))
          close('text_rows', joined(rows), embedding.floats('text_rows').data, limits.values)
          const groups = model.model.talker_config.num_code_groups
          const codes = embedding.integers('frame_codes')
          const frames = Array.from({ length: codes.length / groups }, (_, frame) =>
            model.frameRow(codes.slice(frame * groups, (frame + 1) * groups)),
          )
          close('frame_rows', joined(frames), embedding.floats('frame_rows').data, limits.values)
          const { talker_config: talker } = model.model
          for (const [prefix, { head_dim: size, rope_theta: period }] of [
            ['', talker],
            ['predictor_', talker.code_predictor_config],
          ] as const)
            for (const [name, key] of [
              ['cos', 'cosines'],
              ['sin', 'sines'],
            ] as const) {
              const expected = embedding.floats(`${prefix}rope_${name}`)
              const feeds = createRotaryTable(size, period, 'power').feeds(0, expected.shape[0]!)
              const half = feeds[key].data as Float32Array
              // The reference writes every angle twice.
              const both = Float32Array.from(
                expected.data,
                (_, i) => half[Math.floor(i / size) * (size / 2) + ((i % size) % (size / 2))]!,
              )
              close(`${prefix}rope_${name}`, both, expected.data, limits.values)
            }
        }))

    for (const scenario of golden.scenarios) {
      test(`${golden.name}/${scenario.name}: the prompt has the rows of the reference`, () =>
        withModel(golden, scenario.configuration, async (model) => {
          const prompt = await promptOf(model, set, scenario)
          close('prompt_rows', joined(prompt.rows), scenario.floats('prompt_rows').data, limits.values)
          if (scenario.has('pad_row')) close('pad_row', prompt.rest, scenario.floats('pad_row').data, limits.values)
          // Where all text stands in front, the reference records the row that is added to every frame.
          const trailing = prompt.trailing.length > 0 ? prompt.trailing : [prompt.rest]
          if (scenario.has('trailing_rows'))
            close('trailing_rows', joined(trailing), scenario.floats('trailing_rows').data, limits.values)
        }))

      test(`${golden.name}/${scenario.name}: every pass has the numbers of the reference, and ${scenario.greedy ? 'its codes are chosen' : 'its scores'}`, () =>
        withModel(golden, scenario.configuration, (model) => checkPasses(model, set, scenario)))
    }

    for (const scenario of golden.scenarios.filter(({ has }) => has('pcm')))
      test(`${golden.name}/${scenario.name}: the samples are those of the reference`, () =>
        withModel(golden, scenario.configuration, async (model) => {
          const voice = await voiceOf(model, set, scenario)
          const frames = framesOf(scenario, model)
          async function* recorded() {
            yield* frames
          }
          const pieces: Float32Array[] = []
          const beginning = beginningOf(model, voice, scenario.name)
          for await (const piece of decodeCodes(model, model.openDecoder(), recorded(), beginning)) pieces.push(piece)
          const samples = joined(pieces)
          const expected = scenario.floats('pcm').data
          // Behind a recording the reference cuts by a rounded quotient: up to one sample of the recording stays.
          assert.ok(expected.length - samples.length <= (scenario.transcript ? 1 : 0), `${samples.length} samples`)
          close('pcm', samples, expected.slice(-samples.length), limits.values)
        }))
  }

for (const { models } of sets)
  for (const { name, folder, scenarios } of models)
    for (const scenario of scenarios.filter(({ has }) => has('logits')))
      test(`${name}/${scenario.name}: with 8-bit weights the scores stay within 3 % of the reference`, async () => {
        await using model = closing(await openQwenModel({ folder, cacheFolder: temporaryFolder() }))
        const { talker } = model.openStreams()
        const width = model.model.talker_config.hidden_size
        const prompt = scenario.floats('prompt_rows').data
        const steps = scenario.floats('step_rows').data
        const scores: Float32Array[] = []
        for (let at = 0; at <= steps.length; at += width) {
          const data = at === 0 ? prompt : steps.slice(at - width, at)
          const count = data.length / width
          const { logits } = await talker.run({ rows: { type: 'float32', shape: [count, width], data } }, count)
          scores.push((logits!.data as Float32Array).slice())
        }
        const [made, expected] = [joined(scores), scenario.floats('logits').data]
        assert.is(made.length, expected.length)
        const apart = Math.hypot(...made.map((value, i) => value - expected[i]!)) / Math.hypot(...expected)
        assert.ok(apart < 0.03, `${apart}`)
      })

async function voiceOf(model: QwenModel, { recording }: GoldenSet, scenario: Scenario) {
  if (scenario.isClone) {
    const { samples, sampleRate } = parseWav(readFileSync(recording))
    return cloneVoice(model, { samples, sampleRate, ...(scenario.transcript && { text: scenario.transcript }) })
  }
  return scenario.speaker ? ({ kind: 'preset', name: scenario.speaker } as const) : ({ kind: 'design' } as const)
}

async function promptOf(model: QwenModel, set: GoldenSet, scenario: Scenario): Promise<Prompt> {
  const { text, language, wholeText } = scenario
  const voice = await voiceOf(model, set, scenario)
  return assemblePrompt(model, { text, voice, language, wholeText, instruct: scenario.instruct ?? undefined })
}

function framesOf(scenario: Scenario, { model }: QwenModel): Int32Array[] {
  const groups = model.talker_config.num_code_groups
  const codes = scenario.integers('codes')
  return Array.from({ length: codes.length / groups }, (_, frame) =>
    Int32Array.from(codes.slice(frame * groups, (frame + 1) * groups)),
  )
}

/** Chooses the recorded codes, and checks the scores that they were chosen from. */
function recordedChooser(scenario: Scenario, model: QwenModel): CodeChooser {
  const { configuration } = model
  const { talker_config: talker } = configuration.model
  const firsts = scenario.integers('first_codes')
  const frames = framesOf(scenario, model)
  const asChosen = createChooser(configuration.generation, talker, { greedy: true })
  const scores = scenario.has('scores') ? scenario.floats('scores').data : undefined
  let pass = 0
  return {
    first(logits) {
      const expected = scores?.subarray(pass * talker.vocab_size, (pass + 1) * talker.vocab_size)
      const chosen = asChosen.first(logits)
      const code = firsts[pass]!
      if (scenario.greedy) assert.is(chosen, code, `first code of pass ${pass}`)
      // Drawn at random, the reference goes on: temperature, and only the best stay.
      if (expected)
        close(`scores ${pass}`, scenario.greedy ? logits : kept(logits, expected, model), expected, limits.logits)
      pass += 1
      return code
    },
    note: (code) => asChosen.note(code),
    other(logits, group) {
      const frame = frames[pass - 1]!
      if (scenario.greedy) assert.is(asChosen.other(logits, group), frame[group], `code ${group} of frame ${pass - 1}`)
      return frame[group]!
    },
  }
}

/** The scores divided by the temperature, of the best so many; of the others the reference keeps none. */
function kept(scores: Float32Array, expected: Float32Array, { configuration }: QwenModel): Float32Array {
  const { top_k: best, temperature } = configuration.generation
  const least = scores.slice().sort().at(-best)!
  assert.is(expected.filter(Number.isFinite).length, best)
  return scores.map((score) => (score >= least ? score / temperature : Number.NEGATIVE_INFINITY))
}

async function checkPasses(model: QwenModel, set: GoldenSet, scenario: Scenario): Promise<void> {
  const prompt = await promptOf(model, set, scenario)
  const { talker_config: talker } = model.model
  const hidden: Float32Array[] = []
  const logits: Float32Array[] = []
  const steps: Float32Array[] = []
  const predictorLogits: Float32Array[] = []
  const predictorHidden: Float32Array[] = []
  const streams = model.openStreams()
  const frames: Int32Array[] = []
  const generated = generateFrames(model, streams, prompt, recordedChooser(scenario, model), {
    limit: scenario.frames + (scenario.ended ? 1 : 0),
    probe: {
      talker(rows, output, scores) {
        if (hidden.length > 0) steps.push(rows.slice())
        hidden.push(output)
        logits.push(scores.slice())
      },
      predictor(_group, _rows, output, scores) {
        predictorLogits.push(scores.slice())
        if (frames.length === 0) predictorHidden.push(output.slice())
      },
    },
  })
  for await (const frame of generated) frames.push(frame)
  // The reference computes the row behind the last frame too, and chooses from it; the loop stops before.
  if (!scenario.ended) {
    const row = stepRow(model, prompt, frames)
    const made = await streams.talker.run({ rows: { type: 'float32', shape: [1, row.length], data: row } }, 1)
    hidden.push((made['hidden']!.data as Float32Array).slice())
    logits.push((made['logits']!.data as Float32Array).slice())
    steps.push(row)
  }
  assert.equal(
    frames.map((frame) => [...frame]),
    framesOf(scenario, model).map((frame) => [...frame]),
  )
  close('step_rows', joined(steps), scenario.floats('step_rows').data, limits.values)
  close('hidden', joined(hidden), scenario.floats('hidden').data, limits.values)
  if (scenario.has('logits')) close('logits', joined(logits), scenario.floats('logits').data, limits.logits)
  if (scenario.has('predictor_logits'))
    close('predictor_logits', joined(predictorLogits), scenario.floats('predictor_logits').data, limits.logits)
  if (scenario.has('predictor_hidden'))
    close(
      'predictor_hidden',
      joined(predictorHidden).subarray(0, scenario.floats('predictor_hidden').data.length),
      scenario.floats('predictor_hidden').data,
      limits.values,
    )
  if (scenario.has('kv_final'))
    close('kv_final', byHead(streams.talker.cache, model), scenario.floats('kv_final').data, limits.values)
  assert.is(talker.num_code_groups, frames[0]!.length)
}

/** Keys and values as they are recorded: [layer, key or value, head, row, size]. */
function byHead(cache: KeyValueCache, { model }: QwenModel): Float32Array {
  const { num_key_value_heads: heads, head_dim: size } = model.talker_config
  const { rows, keys, values } = cache.copy()
  const turned = (layer: Float32Array) =>
    layer.map(
      (_, i) => layer[((Math.floor(i / size) % rows) * heads + Math.floor(i / (rows * size))) * size + (i % size)]!,
    )
  return joined(keys.flatMap((layer, index) => [turned(layer), turned(values[index]!)]))
}

function stepRow(model: QwenModel, prompt: Prompt, frames: readonly Int32Array[]): Float32Array {
  const text = prompt.trailing[frames.length - 1] ?? prompt.rest
  return model.frameRow(frames.at(-1)!).map((value, index) => value + text[index]!)
}

test.run()
