import * as assert from 'uvu/assert'
import { counted } from '../../src/formats/counted.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a count with its noun')

test('has the singular for one alone', () => {
  assert.equal(
    [0, 1, 2].map((count) => counted(count, 'model')),
    ['0 models', '1 model', '2 models'],
  )
  assert.is(counted(1, 'memory', 'memories'), '1 memory')
  assert.is(counted(3, 'memory', 'memories'), '3 memories')
})

test.run()
