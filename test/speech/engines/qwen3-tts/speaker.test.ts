/** The speaker encoder, from the recording to the vector, against the numbers of the authors' implementation. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readConfiguration } from '../../../../speech/engines/qwen3-tts/configuration.ts'
import { logMel, melFilters } from '../../../../speech/engines/qwen3-tts/mel.ts'
import { buildSpeakerEncoder } from '../../../../speech/engines/qwen3-tts/speaker.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { openSession } from '../../../../src/inference/session.ts'
import { suite } from '../../../helpers/suite.ts'
import { numbers } from '../pocket-tts/golden.ts'
import { close, goldenSets, limits } from './golden.ts'

const test = suite('the speaker encoder of Qwen3-TTS against the reference')
const models = goldenSets().flatMap((set) => set.models.filter((model) => model.part('speaker')))
if (models.length === 0) test.skip('every base model of the test data', () => undefined)

for (const { name, folder, part } of models) {
  const golden = part('speaker')!

  test(`${name}: the spectrogram is that of the reference`, () => {
    const [frames = 0, bands = 0] = golden.floats('mel').shape
    const mel = logMel(golden.floats('audio').data, bands, 24_000)
    assert.is(mel.frames, frames)
    close('mel_filters', Float32Array.from(melFilters(bands, 24_000)), golden.floats('mel_filters').data, limits.values)
    // Recorded frame by frame.
    const byFrame = Float32Array.from(mel.data, (_, i) => mel.data[(i % bands) * frames + Math.floor(i / bands)]!)
    close('mel', byFrame, golden.floats('mel').data, limits.mel)
  })

  test(`${name}: every block up to the vector is that of the reference`, async () => {
    const { model } = await readConfiguration(folder)
    const file = await openTensorFile(join(folder, 'model.safetensors'))
    const graph = buildSpeakerEncoder(file, model.speaker_encoder_config!, { stages: true })
    const session = await openSession(graph, { name: 'speaker_encoder', weightsFolder: folder })
    const { mel_dim: bands, sample_rate: rate } = model.speaker_encoder_config!
    const { frames, data } = logMel(golden.floats('audio').data, bands, rate)
    const outputs = await session.run({ mel: { type: 'float32', shape: [bands, frames], data } })
    const stages = Object.keys(outputs).filter((stage) => golden.has(stage))
    assert.ok(stages.length >= 9, `${stages}`)
    for (const stage of stages)
      close(
        stage,
        numbers(outputs[stage]),
        golden.floats(stage).data,
        stage === 'vector' ? limits.values : limits.layers,
      )
    await session.close()
    await file.close()
  })
}

test.run()
