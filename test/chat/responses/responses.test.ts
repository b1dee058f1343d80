// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { suite } from '../../helpers/suite.ts'
import { ada, answer, lifetime, response, textsOf, withResponses } from './kept.ts'

const test = suite('the conversation behind a request')

test('each request gets all that was asked and answered before it, and its instructions alone', () =>
  withResponses(async ({ ask }) => {
    await ask({ id: 'resp_1', input: 'One', instructions: 'Be brief.' })
    await ask({ id: 'resp_2', input: [{ role: 'user', content: 'Two' }], previous_response_id: 'resp_1' })
    const third = await ask({ id: 'resp_3', input: 'Three', previous_response_id: 'resp_2', instructions: 'Be kind.' })
    assert.equal(textsOf(third), ['One', 'Answer of resp_1', 'Two', 'Answer of resp_2', 'Three'])
    assert.is(third.body['instructions'], 'Be kind.')
    const bare = await ask({ id: 'resp_4', previous_response_id: 'resp_1' })
    assert.equal([textsOf(bare), bare.body['instructions']], [['One', 'Answer of resp_1'], undefined])
  }))

test('an unknown, expired, removed or foreign previous response has one and the same answer', () =>
  withResponses(async ({ ask, clock, responses }) => {
    await ask({ id: 'resp_expired', input: 'Hi' })
    clock.now += lifetime + 1
    await ask({ id: 'resp_removed', input: 'Hi' })
    await responses.remove(ada, 'resp_removed')
    await ask({ id: 'resp_foreign', input: 'Hi' }, { owner: 'eve' })
    await ask({ id: 'resp_of_key', input: 'Hi' }, { owner: 'ada', key: 'k1' })
    const refusals = []
    for (const [id, reader] of [
      ['resp_unknown', ada],
      ['resp_expired', ada],
      ['resp_removed', ada],
      ['resp_foreign', ada],
      ['resp_of_key', { owner: 'ada', key: 'k2' }],
    ] as const) {
      const error = await refusal(responses.open({ input: 'Hi', previous_response_id: id }, reader))
      refusals.push([error.status, error.message.replace(id, 'ID'), error.provider, error.details])
    }
    const names = { type: 'invalid_request_error', param: 'previous_response_id', code: 'previous_response_not_found' }
    const same = [400, "Previous response with id 'ID' not found.", names, []]
    assert.equal(refusals, [same, same, same, same, same])
    assert.ok(await responses.open({ input: 'Hi', previous_response_id: 'resp_of_key' }, ada))
  }))

test('a response is read at its last moment and not after it, but stays behind a later one', () =>
  withResponses(async ({ ask, clock, responses, storage }) => {
    await ask({ id: 'resp_1', input: 'One' })
    clock.now += lifetime
    await ask({ id: 'resp_2', input: 'Two', previous_response_id: 'resp_1' })
    clock.now += 1
    await responses.expire()
    assert.is((await refusal(responses.find(ada, 'resp_1'))).status, 404)
    const third = await responses.open({ input: 'Three', previous_response_id: 'resp_2' }, ada)
    assert.equal(textsOf(third), ['One', 'Answer of resp_1', 'Two', 'Answer of resp_2', 'Three'])
    clock.now += lifetime
    await responses.expire()
    assert.is((await storage.responses.extent('ada')).responses, 0)
  }))

test('a reference becomes its item; one that is behind the request already goes, as does unknown reasoning', () =>
  withResponses(async ({ ask, responses }) => {
    const reasoning = { type: 'reasoning', id: 'rs_known', summary: [], encrypted_content: 'x' }
    await ask({ id: 'resp_1', input: 'One', output: [reasoning, answer('resp_1')] })
    const refer = (id: string) => ({ type: 'item_reference', id })
    const input = [refer('rs_known'), { id: 'msg_of_resp_1' }, refer('rs_lost'), { role: 'user', content: 'Two' }]
    const opened = await responses.open({ input }, ada)
    assert.equal(textsOf(opened), ['reasoning', 'Answer of resp_1', 'Two'])
    assert.equal((opened.body['input'] as object[])[0], reasoning)
    const behind = await responses.open({ input: [refer('msg_of_resp_1')], previous_response_id: 'resp_1' }, ada)
    assert.equal(textsOf(behind), ['One', 'reasoning', 'Answer of resp_1'])
    const lost = await refusal(responses.open({ input: [refer('msg_a'), refer('fc_b')] }, ada))
    assert.equal([lost.status, lost.message, lost.provider?.param], [400, "Item with id 'msg_a' not found.", 'input'])
    assert.match(lost.details[0]!, /fc_b/)
    assert.is((await refusal(responses.open({ input: [refer('msg_of_resp_1')] }, { owner: 'eve' }))).status, 400)
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
      const error = await refusal(responses.open(body, ada))
      assert.equal([error.status, error.provider?.param], [400, param])
      assert.match(error.message, words)
    }
    for (const body of [null, [], 'text', 7]) assert.is((await refusal(responses.open(body, ada))).status, 400)
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
    const long = await refusal(responses.open({ input: items, previous_response_id: 'resp_2' }, ada))
    assert.equal([long.status, long.provider?.code], [400, 'context_length_exceeded'])
    const refusing = () => {
      throw new AppError('rate_limited', 'enough')
    }
    const refused = await refusal(responses.open({ input: 'Hi', previous_response_id: 'resp_2' }, ada, refusing))
    assert.is(refused.message, 'enough')
  }))

test('nothing is kept of a very large input, and the request says so', () =>
  withResponses(async ({ ask, responses }) => {
    const large = await ask({ id: 'resp_2', input: 'x'.repeat(8 * 1024 * 1024 + 1), store: true })
    assert.equal([large.keep, large.body['store'], large.warnings.length], [false, false, 1])
    assert.is((await refusal(responses.find(ada, 'resp_2'))).status, 404)
  }))

test('without a lifetime, what was kept before is gone', () =>
  withResponses(
    async ({ responses, storage, clock }) => {
      const kept = { owner: 'ada', created_at: clock.now, response: response('resp_1'), input: [] }
      await storage.responses.add(kept, { responses: 9, bytes: 1e9 })
      assert.is((await refusal(responses.find(ada, 'resp_1'))).status, 404)
      await responses.expire()
      assert.is((await storage.responses.extent('ada')).responses, 0)
    },
    { keep: 0 },
  ))

test.whole('2,500 responses of one user leave the newest 2,000', () =>
  withResponses(
    async ({ ask, responses, storage }) => {
      for (let at = 1; at <= 2_500; at++) await ask({ id: `resp_${at}`, input: 'Hi' })
      assert.is((await storage.responses.extent('ada')).responses, 2_000)
      assert.is((await refusal(responses.find(ada, 'resp_500'))).status, 404)
      assert.is((await responses.find(ada, 'resp_501')).response.id, 'resp_501')
    },
    { most: 2_000 },
  ),
)

test('its input is read in pages, each item with an id', () =>
  withResponses(async ({ ask, responses }) => {
    await ask({
      id: 'resp_1',
      input: [
        { role: 'user', content: 'One' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', id: 'fc_own' },
        { type: 'function_call_output', call_id: 'c', output: 'done' },
      ],
    })
    const { items, more } = await responses.input(ada, 'resp_1', { limit: 2, order: 'asc' })
    assert.equal([items.map(({ type }) => type), more], [['message', 'function_call'], true])
    assert.match(items[0]!.id!, /^msg_[0-9a-f]{32}$/)
    assert.is(items[1]!.id, 'fc_own')
    const rest = await responses.input(ada, 'resp_1', { limit: 2, order: 'asc', after: 'fc_own' })
    assert.match(rest.items[0]!.id!, /^fco_/)
    const wrong = await refusal(responses.input(ada, 'resp_1', { limit: 2, order: 'asc', after: 'msg_x' }))
    assert.equal([wrong.status, wrong.provider?.param], [400, 'after'])
    assert.is((await refusal(responses.input({ owner: 'eve' }, 'resp_1', { limit: 1, order: 'asc' }))).status, 404)
  }))

test.run()

async function refusal(call: Promise<unknown>): Promise<AppError> {
  try {
    await call
  } catch (reason) {
    if (reason instanceof AppError) return reason
    throw reason
  }
  return assert.unreachable('it was accepted') as never
}
