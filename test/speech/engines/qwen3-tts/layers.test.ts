/** Every layer of talker and predictor against the numbers of the authors' implementation. */
import { join } from 'node:path'
import { createRotaryTable } from '../../../../speech/blocks/positions.ts'
import { createStream, type Stream } from '../../../../speech/blocks/state-stream.ts'
import { cacheShape, type TransformerShape } from '../../../../speech/blocks/transformer.ts'
import { readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { buildPredictor, buildTalker } from '../../../../speech/engines/qwen3-tts/language-graphs.ts'
import { predictorShape, talkerShape } from '../../../../speech/engines/qwen3-tts/layers.ts'
import { openQwenModel } from '../../../../speech/engines/qwen3-tts/model.ts'
import { openTensorFile, type TensorFile } from '../../../../src/inference/safetensors.ts'
import { openSession } from '../../../../src/inference/session.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { joined, numbers } from '../pocket-tts/golden.ts'
import { close, goldenSets, limits } from './golden.ts'

const test = suite('the layers of Qwen3-TTS against the reference')
const recorded = goldenSets().flatMap(({ models }) =>
  models.flatMap((model) =>
    model.scenarios.filter(({ has }) => has('prompt_layers')).map((scenario) => ({ model, scenario })),
  ),
)
if (recorded.length === 0) test.skip('every model of the test data', () => undefined)

async function streaming(
  folder: string,
  build: (file: TensorFile) => Uint8Array,
  shape: TransformerShape,
  work: (stream: Stream) => Promise<void>,
): Promise<void> {
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  const session = await openSession(build(file), { name: 'layers', weightsFolder: folder })
  const rotary = createRotaryTable(shape.headSize, shape.period, 'power')
  try {
    await work(createStream({ session, shape: cacheShape(shape), rotary }))
  } finally {
    await session.close()
    await file.close()
  }
}

function layersOf(outputs: Awaited<ReturnType<Stream['run']>>): Float32Array {
  const names = Object.keys(outputs).filter((name) => name.startsWith('layer_'))
  return joined(names.map((_, layer) => numbers(outputs[`layer_${layer}`])))
}

for (const { model, scenario } of recorded) {
  test(`${model.name}/${scenario.name}: each talker layer in the pass over the prompt`, async () => {
    const { model: file } = await readConfiguration(model.folder, scenario.configuration)
    const shape = talkerShape(file)
    await streaming(
      model.folder,
      (weights) => buildTalker(weights, shape, { stages: true }),
      shape,
      async (stream) => {
        const { shape: size, data } = scenario.floats('prompt_rows')
        const outputs = await stream.run({ rows: { type: 'float32', shape: size, data } }, size[0]!)
        close('prompt_layers', layersOf(outputs), scenario.floats('prompt_layers').data, limits.layers)
        close('prompt_hidden', numbers(outputs['hidden']), scenario.floats('prompt_hidden').data, limits.values)
      },
    )
  })

  test(`${model.name}/${scenario.name}: each predictor layer, and its rows behind the projection`, async () => {
    const { model: file } = await readConfiguration(model.folder, scenario.configuration)
    const { talker_config: talker } = file
    const shape = predictorShape(file)
    const whole = await openQwenModel({ folder: model.folder, cacheFolder: temporaryFolder(), precision: 'float32' })
    const codes = scenario.integers('codes')
    const rows = [scenario.floats('hidden').data.subarray(0, talker.hidden_size), whole.codeRow(codes[0]!)]
    for (let group = 1; group < talker.num_code_groups - 1; group++) rows.push(whole.groupRow(group, codes[group]!))
    await whole.close()
    const build = (weights: TensorFile) => buildPredictor(weights, shape, talker.hidden_size, { stages: true })
    await streaming(model.folder, build, shape, async (stream) => {
      const feed = (part: readonly Float32Array[]) =>
        stream.run(
          { rows: { type: 'float32', shape: [part.length, talker.hidden_size], data: joined(part) } },
          part.length,
        )
      const first = await feed(rows.slice(0, 2))
      close('predictor_layers', layersOf(first), scenario.floats('predictor_layers').data, limits.layers)
      const narrowed = [numbers(first['narrowed'])]
      const hidden = [numbers(first['hidden'])]
      for (const row of rows.slice(2)) {
        const outputs = await feed([row])
        narrowed.push(numbers(outputs['narrowed']))
        hidden.push(numbers(outputs['hidden']))
      }
      close('predictor_rows', joined(narrowed), scenario.floats('predictor_rows').data, limits.values)
      close('predictor_hidden', joined(hidden), scenario.floats('predictor_hidden').data, limits.values)
    })
  })
}

test.run()
