import * as assert from 'uvu/assert'
import { goDuration, type HeaderBag, retryAfterOf } from '../../../src/chat/protocol/retry-after.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('how long a provider asks to wait')
const now = Date.parse('2026-11-21T10:00:00Z')

const hints: readonly {
  name: string
  headers?: HeaderBag
  message?: string
  bodyMs?: number
  waitMs: number | undefined
}[] = [
  { name: 'milliseconds', headers: { 'retry-after-ms': '1500', 'retry-after': '9' }, waitMs: 1500 },
  { name: "Azure's milliseconds", headers: { 'x-ms-retry-after-ms': '250', 'retry-after': '9' }, waitMs: 250 },
  { name: 'seconds', headers: { 'retry-after': '2', 'x-ratelimit-timeremaining': '9' }, waitMs: 2000 },
  { name: 'parts of a second', headers: { 'retry-after': '0.25' }, waitMs: 250 },
  { name: 'a date', headers: { 'retry-after': 'Sat, 21 Nov 2026 10:00:07 GMT' }, waitMs: 7000 },
  { name: 'a date gone by', headers: { 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, waitMs: 0 },
  { name: 'no date at all', headers: { 'retry-after': 'soon' }, waitMs: undefined },
  { name: 'a negative time', headers: { 'retry-after': '-5' }, waitMs: undefined },
  { name: "GitHub's seconds left", headers: { 'x-ratelimit-timeremaining': '30' }, bodyMs: 1, waitMs: 30_000 },
  { name: "Gemini's body", bodyMs: 34_400, headers: { 'x-ratelimit-reset-tokens': '1s' }, waitMs: 34_400 },
  {
    name: 'the limit that is used up',
    headers: {
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '1h0m0s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m2.5s',
    },
    waitMs: 62_500,
  },
  {
    name: "Anthropic's reset",
    headers: {
      'anthropic-ratelimit-requests-remaining': '10',
      'anthropic-ratelimit-requests-reset': '2026-11-21T11:00:00Z',
      'anthropic-ratelimit-output-tokens-remaining': '0',
      'anthropic-ratelimit-output-tokens-reset': '2026-11-21T10:00:12Z',
    },
    waitMs: 12_000,
  },
  { name: "GitHub's words", message: 'Please wait 42 seconds before retrying.', waitMs: 42_000 },
  { name: "OpenAI's words", message: 'Please try again in 1m2.5s. Visit …', waitMs: 62_500 },
  { name: "OpenAI's few words", message: 'Limit 3, please try again in 20ms.', waitMs: 20 },
  { name: "Gemini's words", message: 'Please retry in 48.939935699s.', waitMs: 48_940 },
  { name: 'nothing', message: 'Come back another day', waitMs: undefined },
]

for (const { name, headers = {}, message = '', bodyMs, waitMs } of hints)
  test(`${name}: ${waitMs === undefined ? 'no wait' : `${waitMs} ms`}`, () => {
    const error = { message, ...(bodyMs !== undefined && { retryAfterMs: bodyMs }) }
    assert.is(retryAfterOf(headers, error, now), waitMs)
  })

test('the limits that stand on every answer count only where one was hit', () => {
  const headers = { 'x-ratelimit-reset-requests': '6s', 'anthropic-ratelimit-tokens-reset': '2026-11-21T11:00:00Z' }
  assert.is(retryAfterOf(headers, undefined, now, 500), undefined)
  assert.is(retryAfterOf(headers, undefined, now, 429), 6000)
})

test('a header that came twice counts once', () => {
  assert.is(retryAfterOf({ 'retry-after': ['3', '4'] }, undefined, now), 3000)
})

test('spans are read as Go prints them', () => {
  const spans = { '1h2m3s': 3_723_000, '26ms': 26, '7.66s': 7660, '2m59.56s': 179_560, '120µs': 1 }
  for (const [text, ms] of Object.entries(spans)) assert.is(goDuration(text), ms, text)
  for (const text of ['', 's', '1', '1d', '-1s', 'NaNs', '1s ']) assert.is(goDuration(text), undefined, text)
})

test.run()
