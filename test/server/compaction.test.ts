import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { textOf } from '../../src/chat/protocol/messages.ts'
import { loadExchanges } from '../helpers/chat/exchanges.ts'
import { testData } from '../helpers/data.ts'
import { type DialectId, endpoints, failureOf, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, json } from '../helpers/providers/fake-provider.ts'
import { heard, speaking } from '../helpers/speech/speaking-model.ts'
import { suite } from '../helpers/suite.ts'
import { hearing } from './hearing-model.ts'
import { openKeyDaemon } from './key-daemon.ts'

const test = suite('compaction of the Responses API, with OpenAI’s client library')

const model = 'custom-model'

const said = (role: 'user' | 'assistant', content: string) => ({ role, content })

const talk = [said('user', 'One'), said('assistant', 'Two'), said('user', 'Three'), said('assistant', 'Four')]

/** A model that summarises when it is asked to, and else repeats its messages. */
function summarising(api: DialectId, summary = 'They counted to four.'): Answer {
  return speaking(api, (request) => {
    const isAsked = textOf(request.messages.at(-1)?.content ?? '').startsWith('Summarise')
    return { content: isAsked ? summary : heard(request) }
  })
}

test('a request whose last item asks for a compaction is answered by it alone, whole and streamed', () =>
  withLibraries(summarising('openai-chat'), async ({ openai, provider }) => {
    const input = [...talk, { type: 'compaction_trigger' }] as never
    const whole = await openai.responses.create({ model, input })
    const streamed = []
    for await (const event of await openai.responses.create({ model, input, stream: true })) streamed.push(event)
    assert.equal(
      streamed.map(({ type }) => type),
      ['response.created', 'response.output_item.done', 'response.completed'],
    )
    const last = streamed.at(-1) as OpenAI.Responses.ResponseCompletedEvent
    for (const { status, output, usage } of [whole, last.response]) {
      assert.equal([status, output.map(({ type }) => type), usage?.input_tokens], ['completed', ['compaction'], 5])
      const next = await openai.responses.create({ model, input: [...output, said('user', 'Five')] as never })
      assert.match(next.output_text, /They counted to four\..*Five$/s)
    }
    assert.not.match(provider.received[0]!.body, 'compaction_trigger')
  }))

for (const api of Object.keys(endpoints) as DialectId[])
  test(`a model of ${api} without compaction of its own summarises, and goes on with its summary`, () => {
    const answer = summarising(api)
    return withLibraries(
      (request, response) =>
        request.url.endsWith('/compact') ? json(response, 404, { error: 'not found' }) : answer(request, response),
      async ({ openai, provider }) => {
        const compacted = await openai.responses.compact({ model, input: talk, instructions: 'Count.' })
        assert.is(compacted.object, 'response.compaction')
        assert.equal([compacted.usage.input_tokens, compacted.usage.output_tokens], [5, 2])
        assert.equal(
          compacted.output.map((item) => [item.type, 'content' in item && JSON.stringify(item.content)]),
          [
            ['message', '[{"type":"input_text","text":"One"}]'],
            ['message', '[{"type":"input_text","text":"Three"}]'],
            ['compaction', false],
          ],
        )
        assert.not.match(JSON.stringify(compacted.output), 'They counted')
        assert.match(provider.received.at(-1)!.body, 'Count.')
        const input = [...compacted.output, said('user', 'Five')] as OpenAI.Responses.ResponseInput
        const next = await openai.responses.create({ model, input })
        assert.match(next.output_text, /^heard \d: One.*Three.*up to here, .*:\n\nThey counted to four\..*Five$/s)
        const later = await openai.responses.create({ model, input: 'Six', previous_response_id: next.id })
        assert.match(later.output_text, 'They counted to four.')
        // A summary is summarised again, and is no message of the user's.
        const again = await openai.responses.compact({ model, previous_response_id: later.id })
        assert.equal(
          again.output.map(({ type }) => type),
          ['message', 'message', 'message', 'message', 'compaction'],
        )
        assert.match(provider.received.at(-1)!.body, 'They counted to four.')
      },
      { plugin: { api } },
    )
  })

const recordings = testData('cassettes', 'openai-responses')
const recorded = recordings && loadExchanges(recordings).find(({ url }) => url.endsWith('/compact'))

recorded &&
  test('a provider with compaction of its own is asked for it, and its item goes back to it', async () => {
    const answer = hearing('openai-responses')
    const reply = JSON.parse(recorded.answer.toString())
    await withLibraries(
      (request, response) =>
        request.url.endsWith('/compact') ? json(response, 200, reply) : answer(request, response),
      async ({ openai, provider }) => {
        const asked = { ...(recorded.body as OpenAI.Responses.ResponseCompactParams), model }
        const compacted = await openai.responses.compact(asked)
        assert.is(provider.received[0]!.url, '/v1/responses/compact')
        const input = (asked.input as { role: string }[]).map((item) => ({ type: 'message', ...item }))
        const sent = JSON.parse(provider.received[0]!.body)
        assert.equal(
          { ...sent, input: sent.input.map((item: object) => ({ type: 'message', ...item })) },
          { ...asked, input },
        )
        assert.equal(compacted.output, reply.output)
        assert.equal([compacted.usage.input_tokens, compacted.usage.output_tokens], [160, 297])
        const next = [...compacted.output, said('user', 'Five')] as OpenAI.Responses.ResponseInput
        await openai.responses.create({ model, input: next })
        assert.equal(JSON.parse(provider.received[1]!.body).input[2], reply.output[2])
      },
      { plugin: { api: 'openai-responses' } },
    )
  })

test('calls of tools are summarised with the rest, and the newest messages of the user stay, up to a bound', () =>
  withLibraries(
    summarising('anthropic-messages'),
    async ({ openai, provider }) => {
      const call = { type: 'function_call' as const, call_id: 'c1', name: 'weather', arguments: '{}' }
      const output = { type: 'function_call_output' as const, call_id: 'c1', output: 'sunny' }
      const long = said('user', 'word '.repeat(30_000))
      const compacted = await openai.responses.compact({ model, input: [talk[0]!, long, call, output, talk[2]!] })
      assert.equal(
        compacted.output.map(({ type }) => type),
        ['message', 'compaction'],
      )
      const sent = JSON.parse(provider.received[0]!.body)
      assert.equal(
        sent.tools.map(({ name }: { name: string }) => name),
        ['weather'],
      )
    },
    { plugin: { api: 'anthropic-messages' } },
  ))

test('a conversation of a kept kind is compacted, nothing is kept of it, and no summary is an error', async () => {
  let summary = 'They counted.'
  await withLibraries(
    (request, response) => summarising('openai-chat', summary)(request, response),
    async ({ openai, url }) => {
      const { id } = await openai.conversations.create({ items: talk })
      const body = { model, input: [said('user', 'Five')], conversation: id }
      const compacted = await openai.responses.compact(body as never)
      assert.is(compacted.output.length, 4)
      assert.is((await openai.conversations.items.list(id)).data.length, 4)
      assert.is(((await (await fetch(`${url}/api/responses`)).json()) as { responses: number }).responses, 1)
      summary = ' '
      const failure = await failureOf(() => openai.responses.compact(body as never))
      assert.equal([failure['status'], /no summary/.test(failure.message)], [502, true])
      for (const input of [undefined, []])
        assert.is((await failureOf(() => openai.responses.compact({ model, input } as never)))['status'], 400)
    },
    { maxRetries: 0 },
  )
})

test('a summary opens for its user alone', async () => {
  await using daemon = await openKeyDaemon({ provider: summarising('openai-chat') })
  const [ada, bob] = [daemon.ada, daemon.bob].map(
    ({ token: apiKey }) => new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey, maxRetries: 0 }),
  )
  const { output } = await ada!.responses.compact({ model: 'm-one', input: talk })
  const input = [...output, said('user', 'Five')] as OpenAI.Responses.ResponseInput
  assert.match((await ada!.responses.create({ model: 'm-two', input })).output_text, 'They counted to four.')
  const asked = daemon.provider.received.length
  const failure = await failureOf(() => bob!.responses.create({ model: 'm-one', input }))
  assert.equal([failure['status'], failure['param']], [400, 'input'])
  assert.is(daemon.provider.received.length, asked)
})

const facts = { 'custom-model': { context_window: 2_000 } }

for (const api of ['openai-chat', 'anthropic-messages', 'openai-responses'] as const)
  test(`truncation over ${api}: auto leaves out the middle of what a known window does not take, disabled refuses it`, () =>
    withLibraries(
      hearing(api),
      async ({ openai, provider }) => {
        const input = Array.from({ length: 40 }, (_, at) =>
          said(at % 2 ? 'assistant' : 'user', `n${at} ${'x '.repeat(100)}`),
        )
        const ask = { model, input: [...input, said('user', 'last')] }
        const { data, response } = await openai.responses.create({ ...ask, truncation: 'auto' }).withResponse()
        assert.match(data.output_text, /^heard \d+: n0 .*n39 .* last$/)
        assert.not.match(data.output_text, 'n10 ')
        assert.is(data.truncation, 'auto')
        assert.match(response.headers.get('x-aichat-warnings') ?? '', /\d+ earlier messages .* left out/)
        const asked = provider.received.length
        const refused = await failureOf(() => openai.responses.create({ ...ask, truncation: 'disabled' }))
        assert.equal([refused['status'], refused['code'], refused['param']], [400, 'context_length_exceeded', 'input'])
        assert.is(provider.received.length, asked)
        const short = await openai.responses.create({ model, input: 'One', truncation: 'disabled' })
        assert.is(short.output_text, 'heard 1: One')
      },
      { plugin: { api, models: facts }, maxRetries: 0 },
    ))

test('a provider that refuses for length is asked again with less, but not with truncation: disabled', async () => {
  const answer = hearing()
  await withLibraries(
    (request, response) => {
      const tooLong = {
        error: { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' },
      }
      return request.body.length > 3_000 ? json(response, 400, tooLong) : answer(request, response)
    },
    async ({ openai, provider }) => {
      const ask = { model, input: Array.from({ length: 20 }, () => said('user', 'y '.repeat(100))) }
      const refused = await failureOf(() => openai.responses.create({ ...ask, truncation: 'disabled' }))
      assert.equal([refused['status'], refused['code'], provider.received.length], [400, 'context_length_exceeded', 1])
      const { response } = await openai.responses.create({ ...ask, truncation: 'auto' }).withResponse()
      assert.match(response.headers.get('x-aichat-warnings') ?? '', 'left out')
      assert.is(provider.received.length, 3)
    },
    { maxRetries: 0, plugin: { retry: { attempts: 2 } } },
  )
})

test.run()
