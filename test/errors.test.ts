import * as assert from 'uvu/assert'
import { AppError, exitOf, type FailureCode, shortened } from '../src/errors.ts'
import { suite } from './helpers/suite.ts'

const test = suite('failures')

/** By the status and exit code that clients and scripts go by; behind a `!` those that no retry can mend. */
const codes: Readonly<Record<string, readonly string[]>> = {
  '400 1': ['found'],
  '400 64': ['usage'],
  '400 65': ['invalid'],
  '400 66': ['no_input'],
  '400 73': ['cannot_create'],
  '401 77': ['!unauthenticated', '!invalid_api_key', '!key_revoked'],
  '403 77': ['forbidden', '!key_scope', '!model_not_allowed'],
  '404 67': ['not_found'],
  '405 64': ['method_not_allowed'],
  '408 75': ['too_slow'],
  '409 75': ['conflict'],
  '413 65': ['too_large'],
  '415 65': ['unsupported_media'],
  '417 64': ['expectation'],
  '422 65': ['unprocessable'],
  '429 75': ['rate_limited'],
  '500 70': ['internal'],
  '502 76': ['protocol'],
  '503 69': ['unavailable'],
  '503 74': ['io'],
  '503 75': ['busy'],
  '503 77': ['!provider_auth'],
  '503 78': ['!configuration'],
  '504 75': ['timeout'],
}

test('have their status, exit code, and whether a retry can mend them, by their code', () => {
  for (const [numbers, names] of Object.entries(codes))
    for (const name of names) {
      const code = name.replace('!', '') as FailureCode
      const failure = new AppError(code, 'x')
      assert.is(`${failure.status} ${failure.exit}`, numbers, code)
      assert.is(exitOf(code), failure.exit)
      assert.is(failure.final, name.startsWith('!'), code)
      assert.is(new AppError(code, 'x', { final: !failure.final }).final, !failure.final)
    }
})

test('have lines of 4,000 characters at the most, and reports of twenty lines and a count', () => {
  const longest = 'x'.repeat(4000)
  const failure = new AppError('invalid', `${longest}y`, { details: [longest, `${longest}y`] })
  assert.is(failure.message, `${longest}…`)
  assert.equal(failure.details, [longest, `${longest}…`])
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`)
  for (const count of [0, 1, 20, 21]) assert.equal(shortened(lines(count)), lines(count))
  assert.equal(shortened(lines(22)), [...lines(20), 'and 2 more'])
})

test.run()
