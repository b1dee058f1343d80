import * as assert from 'uvu/assert'
import { nearestName, suggestion } from '../../src/formats/nearest-name.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the name that a misspelt one means')

const names = ['anthropic', 'gemini', 'groq', 'mistral', 'openai', 'openrouter', 'api.port']

test('differs in few letters, two of them perhaps swapped, and in case', () => {
  const meant = {
    opnai: 'openai',
    oepnai: 'openai',
    OpenAI: 'openai',
    antropic: 'anthropic',
    gorq: 'groq',
    'api.prot': 'api.port',
  }
  for (const [wrong, right] of Object.entries(meant)) assert.is(nearestName(wrong, names), right, wrong)
})

test('may be one that it begins', () => {
  assert.equal([nearestName('anth', names), nearestName('an', names)], ['anthropic', undefined])
})

test('is none where the words differ', () => {
  for (const wrong of ['llama3', 'gemma3', 'deepseek', 'ft', 'qwen3', ''])
    assert.is(nearestName(wrong, names), undefined)
  assert.equal([suggestion('llama3', names), suggestion('opnai', names)], ['', '; did you mean openai?'])
})

test.run()
