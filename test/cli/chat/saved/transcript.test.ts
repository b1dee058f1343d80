import * as assert from 'uvu/assert'
import { transcript } from '../../../../src/cli/chat/saved/transcript.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('the transcript of a conversation')

test('tells the tokens, the cost, the time and an unusual end of an answer, and no cost where there was none', () => {
  const answer = { model: 'm', plugin: 'p', input_tokens: 120, output_tokens: 45, duration_ms: 2340 }
  const told = (more: object) => {
    const message = { role: 'assistant', content: 'Hi', timestamp: 0, answer: { ...answer, ...more } }
    return transcript([message] as never)
      .split('\n')
      .at(-1)
  }
  assert.is(
    told({ cost_usd: '0.0012', finish_reason: 'length' }),
    '*m · p · 120 + 45 tokens · $0.0012 · 2.3 s · length*',
  )
  assert.is(told({ cost_usd: '0', finish_reason: 'stop' }), '*m · p · 120 + 45 tokens · 2.3 s*')
})

test.run()
