import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { parseInput } from '../../src/operations/ask.ts'
import { chat, routed } from '../../src/operations/chat.ts'
import { plainOrder } from '../../src/operations/plain-order.ts'
import type { OpenRequest } from '../../src/personas/chat/persona-chat.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('plain orders')

const odd = fc.constantFrom<unknown>(null, true, '', 'x', -1, 0, 0.5, 1, 2, 2.5, 1e300, [], [1], {}, { type: 'text' })
const content = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>('hi', [{ type: 'text', text: 'hi' }]) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([{ type: 1 }], [[]]) },
  { weight: 1, arbitrary: odd },
)
const role = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<unknown>('user', 'assistant', 'system', 'tool', 'developer', 'function') },
  { weight: 1, arbitrary: odd },
)
const message = fc.oneof(
  { weight: 6, arbitrary: fc.record({ role, content, name: odd }, { requiredKeys: ['role', 'content'] }) },
  { weight: 1, arbitrary: fc.record({ role }) },
  { weight: 1, arbitrary: odd },
)
const known = ['model', 'tools', 'stream', 'temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'n']
const ours = ['plugin', 'persona', 'session', 'memory', 'fallback', 'local_only', 'keep', 'tool_turn']
const request = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.array(message, { maxLength: 3 }) }, { weight: 1, arbitrary: odd }),
    fc.dictionary(fc.constantFrom(...known, 'user', 'seed', ...ours), odd, { maxKeys: 3 }),
  )
  .map(([messages, fields]) => JSON.parse(JSON.stringify({ messages, ...fields })) as OpenRequest)

test('a request that is taken as it is, is what the schema makes of it', () => {
  let all = 0
  let plain = 0
  fc.assert(
    fc.property(request, (asked) => {
      all++
      const order = plainOrder(asked)
      if (!order) return
      plain++
      const { stream = false, ...rest } = order.request
      assert.equal({ ...order, request: { ...rest, stream } }, routed(parseInput(chat, asked)))
    }),
    { numRuns: 3000 },
  )
  assert.ok(plain > all / 30, `${plain} requests of ${all} were plain`)
})

test('a plain chat needs no schema, and a field of aichat brings it back', () => {
  const asked = { model: 'm', messages: [{ role: 'user', content: 'hi' }] } as const
  assert.is(plainOrder(asked)?.request, asked)
  for (const name of ours) assert.is(plainOrder({ ...asked, [name]: undefined }), undefined, name)
})

test('a request beyond the bounds is left to the schema, which says so', () => {
  const message = { role: 'user', content: 'hi' } as const
  for (const asked of [
    { messages: Array(5001).fill(message) },
    { messages: [message], tools: Array(1001).fill({}) },
    { messages: [message], model: 'm'.repeat(301) },
    { messages: [{ role: 'user', content: Array(1001).fill({ type: 'text', text: '' }) }] },
  ] as unknown as OpenRequest[]) {
    assert.is(plainOrder(asked), undefined)
    assert.throws(
      () => parseInput(chat, asked),
      (thrown: unknown) => thrown instanceof AppError,
    )
  }
})

test.run()
