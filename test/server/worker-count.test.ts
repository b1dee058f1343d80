import { availableParallelism } from 'node:os'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { workersOf } from '../../src/server/worker-count.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the number of workers')

test('is one unless the option says more, up to 64, and only where the API is served', () => {
  assert.equal([workersOf(undefined, ['api']), workersOf(undefined, ['voxa-tts'])], [1, 1])
  assert.equal([workersOf('1', ['api']), workersOf('64', ['api', 'voxa-tts'])], [1, 64])
  assert.is(workersOf('auto', ['api']), Math.min(availableParallelism(), 64))
  for (const [text, servers, message] of [
    ['0', ['api'], /Invalid number of workers "0"/],
    ['65', ['api'], /from 1 to 64, or auto/],
    ['2.5', ['api'], /Invalid number/],
    ['', ['api'], /Invalid number/],
    ['2', ['voxa-tts'], /--workers is for the API/],
  ] as const)
    assert.throws(
      () => workersOf(text, [...servers]),
      (reason: unknown) => reason instanceof AppError && message.test(reason.message),
      text,
    )
})

test.run()
