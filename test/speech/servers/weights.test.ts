import * as assert from 'uvu/assert'
import { serverOfWeights, weightsName } from '../../../speech/servers/weights.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the names of weights')

test('say the variant where it is not the default one, and their server is known by them', () => {
  for (const [server, variant, name] of [
    ['voxa-tts', undefined, 'voxa-tts'],
    ['voxa-tts', 'CustomVoice-1.7B', 'voxa-tts'],
    ['voxa-tts', 'Base-0.6B', 'voxa-tts-base-0.6b'],
    ['voxb-tts', undefined, 'voxb-tts'],
    ['voxb-tts', 'any', 'voxb-tts'],
  ] as const) {
    assert.is(weightsName(server, variant), name)
    assert.is(serverOfWeights(name), server)
  }
  assert.is(serverOfWeights('voxb-tts-1.6b'), 'voxb-tts-1.6b')
})

test.run()
