import * as assert from 'uvu/assert'
import { chunkLimits } from '../../../../speech/engines/neural/pace.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('the pace of a neural engine')

test('a slow machine gets shorter chunks and in the end more time', () => {
  assert.equal(chunkLimits(2, 250), { characters: 250, milliseconds: 30_000 })
  assert.is(chunkLimits(2, 150).characters, 150)
  assert.ok(chunkLimits(0.5, 250).characters < 250)
  assert.is(chunkLimits(0.5, 250).milliseconds, 30_000)
  assert.is(chunkLimits(0.05, 250).characters, 60)
  assert.ok(chunkLimits(0.05, 250).milliseconds > 60_000)
})

test.run()
