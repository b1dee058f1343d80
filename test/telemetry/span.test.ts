import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { type Span, within } from '../../src/telemetry/span.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('spans')

for (const [what, reason, failure] of [
  ['an error of ours ends it with its code', new AppError('not_found', 'x'), 'not_found'],
  ['one without a code with its name', new TypeError('x'), 'TypeError'],
  ['what is no error with the word for others', 'x', '_OTHER'],
  ['what is nothing with the same', undefined, '_OTHER'],
] as const)
  test(`work that fails ends its span: ${what}`, async () => {
    const { parent, calls } = recordingParent()
    const outcome = within(parent, 'work', { 'a.fact': 1 }, () => Promise.reject(reason))
    assert.is(await outcome.catch((thrown: unknown) => thrown), reason)
    assert.equal(calls, [
      ['work', 'internal', { 'a.fact': 1 }],
      ['end', failure],
    ])
  })

test('work that succeeds ends its span without a failure; without a parent there is no span', async () => {
  const { parent, calls } = recordingParent()
  assert.is(await within(parent, 'work', {}, async (span) => (span ? 'done' : 'none')), 'done')
  assert.equal(calls, [
    ['work', 'internal', {}],
    ['end', undefined],
  ])
  assert.is(await within(undefined, 'work', {}, async (span) => (span ? 'done' : 'none')), 'none')
})

function recordingParent() {
  const calls: unknown[] = []
  const child = { end: (failure?: string) => calls.push(['end', failure]) } as unknown as Span
  const parent = {
    child(...began: unknown[]) {
      calls.push(began)
      return child
    },
  } as unknown as Span
  return { parent, calls }
}

test.run()
