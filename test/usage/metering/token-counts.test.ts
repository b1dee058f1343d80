import * as assert from 'uvu/assert'
import { createTokenCounts } from '../../../src/usage/metering/token-counts.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the tokens of models')

test('are summed by plugin and model, each kind by itself, and counted in histograms by attempt', () => {
  const counts = createTokenCounts(() => true)
  const kinds = { audioInput: 1, audioOutput: 2, cached: 3, cacheWrite: 4, reasoning: 6 }
  const place = { plugin: 'openai', model: 'gpt' }
  counts.add(place, { input: 20, output: 10, ...kinds, cacheWriteLong: 5 })
  counts.add(place, { input: 20, output: 0, ...kinds })
  counts.add(place, { input: 0, output: 0, ...kinds })
  counts.add({ plugin: null, model: 'tiny' }, { input: 1, output: 1 })
  const rows = counts.list().map(({ inputs, outputs, ...sums }) => [sums, inputs.count, inputs.sum, outputs.sum])
  assert.equal(rows, [
    [
      {
        ...{ provider: 'openai', model: 'gpt', input: 40, output: 10, audioInput: 2, audioOutput: 4 },
        ...{ cached: 6, cacheWrite: 13, reasoning: 12 },
      },
      ...[2, 40, 10],
    ],
    [
      {
        ...{ provider: 'local', model: 'tiny', input: 1, output: 1, audioInput: 0, audioOutput: 0 },
        ...{ cached: 0, cacheWrite: 0, reasoning: 0 },
      },
      ...[1, 1, 1],
    ],
  ])
})

test.run()
