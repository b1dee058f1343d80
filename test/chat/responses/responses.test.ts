// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { errorOf } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'
import { ada, lifetime, textsOf, withResponses } from './kept.ts'

const test = suite('the conversation behind a request')

test('a response is read at its last moment and not after it, but stays behind a later one', () =>
  withResponses(async ({ ask, clock, responses, storage }) => {
    await ask({ id: 'resp_1', input: 'One' })
    clock.now += lifetime
    await ask({ id: 'resp_2', input: 'Two', previous_response_id: 'resp_1' })
    clock.now += 1
    await responses.expire()
    assert.is((await errorOf(responses.find(ada, 'resp_1'))).status, 404)
    const third = await responses.open({ input: 'Three', previous_response_id: 'resp_2' }, ada)
    assert.equal(textsOf(third), ['One', 'Answer of resp_1', 'Two', 'Answer of resp_2', 'Three'])
    clock.now += lifetime
    await responses.expire()
    assert.is((await storage.responses.extent('ada')).responses, 0)
  }))

test('what makes no sense is refused by the name of its field', () =>
  withResponses(async ({ responses }) => {
    const refer = { type: 'item_reference', id: 'msg_1' }
    for (const [body, param, words] of [
      [{ conversation: 'conv_1', previous_response_id: 'resp_1', input: 'Hi' }, 'conversation', /Mutually exclusive/],
      [{ conversation: 7, input: 'Hi' }, 'conversation', /must be/],
      [{ previous_response_id: 7, input: 'Hi' }, 'previous_response_id', /must be/],
      [{ previous_response_id: 'x'.repeat(201), input: 'Hi' }, 'previous_response_id', /must be/],
      [{ input: [{ type: 'item_reference', id: {} }] }, 'input', /must be text/],
      [{ input: [refer, refer] }, 'input', /Duplicate/],
      [{ input: Array.from({ length: 5_001 }, () => ({})) }, 'input', /5000/],
      [{ input: Array.from({ length: 2_001 }, (_, id) => ({ id: `msg_${id}` })) }, 'input', /2000/],
    ] as const) {
      const error = await errorOf(responses.open(body, ada))
      assert.equal([error.status, error.provider?.param], [400, param])
      assert.match(error.message, words)
    }
    for (const body of [null, [], 'text', 7]) assert.is((await errorOf(responses.open(body, ada))).status, 400)
    // Left to the reader of the request, which tells all problems at once.
    for (const input of [undefined, 7, { text: 'x' }]) assert.is((await responses.open({ input }, ada)).keep, false)
  }))

test('a conversation that has grown too long is refused, before it is read', () =>
  withResponses(async ({ ask, responses }) => {
    const items = Array.from({ length: 2_500 }, (_, at) => ({ role: 'user', content: String(at) }))
    await ask({ id: 'resp_1', input: items })
    await ask({ id: 'resp_2', input: 'Short', previous_response_id: 'resp_1' })
    const told: number[] = []
    const charge = (bytes: number) => void told.push(bytes)
    await responses.open({ input: 'Hi', previous_response_id: 'resp_2' }, ada, charge)
    assert.equal([told.length, told[0]! > 100_000], [1, true])
    const long = await errorOf(responses.open({ input: items, previous_response_id: 'resp_2' }, ada))
    assert.equal([long.status, long.provider?.code], [400, 'context_length_exceeded'])
    const refusing = () => {
      throw new AppError('rate_limited', 'enough')
    }
    const refused = await errorOf(responses.open({ input: 'Hi', previous_response_id: 'resp_2' }, ada, refusing))
    assert.is(refused.message, 'enough')
  }))

test('nothing is kept of a very large input, and the request says so', () =>
  withResponses(async ({ ask, responses }) => {
    const large = await ask({ id: 'resp_2', input: 'x'.repeat(8 * 1024 * 1024 + 1), store: true })
    assert.equal([large.keep, large.body['store'], large.warnings.length], [false, false, 1])
    assert.is((await errorOf(responses.find(ada, 'resp_2'))).status, 404)
  }))

test.whole('2,500 responses of one user leave the newest 2,000', () =>
  withResponses(
    async ({ ask, responses, storage }) => {
      for (let at = 1; at <= 2_500; at++) await ask({ id: `resp_${at}`, input: 'Hi' })
      assert.is((await storage.responses.extent('ada')).responses, 2_000)
      assert.is((await errorOf(responses.find(ada, 'resp_500'))).status, 404)
      assert.is((await responses.find(ada, 'resp_501')).response.id, 'resp_501')
    },
    { most: 2_000 },
  ),
)

test.run()
