import * as assert from 'uvu/assert'
import { AppError, shortened } from '../src/errors.ts'
import { suite } from './helpers/suite.ts'

const test = suite('failures')

test('a line has 4,000 characters at the most, and a report twenty lines and a count', () => {
  const longest = 'x'.repeat(4000)
  const failure = new AppError('invalid', `${longest}y`, { details: [longest, `${longest}y`] })
  assert.is(failure.message, `${longest}…`)
  assert.equal(failure.details, [longest, `${longest}…`])
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`)
  for (const count of [0, 1, 20, 21]) assert.equal(shortened(lines(count)), lines(count))
  assert.equal(shortened(lines(22)), [...lines(20), 'and 2 more'])
})

test.run()
