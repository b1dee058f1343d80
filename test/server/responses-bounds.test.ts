// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { ended, failureOf, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('bounds of the Responses API')

const model = 'custom-model'

test('a request that is too long to be repeated is answered with empty fields, and their names in a warning', () =>
  withLibraries(answering('Hi'), async ({ openai, provider }) => {
    const instructions = 'i'.repeat(600_000)
    const asked = { model, input: 'One', instructions, metadata: { topic: 'bounds' } }
    const { data, response } = await openai.responses.create(asked).withResponse()
    assert.equal([data.output_text, data.instructions, data.metadata], ['Hi', null, { topic: 'bounds' }])
    assert.match(response.headers.get('x-aichat-warnings') ?? '', /does not repeat instructions/)
    assert.is(JSON.parse(provider.received[0]!.body).messages[0].content, instructions)
    assert.is((await openai.responses.retrieve(data.id)).instructions, null)
    const streamed = await openai.responses.stream(asked).finalResponse()
    assert.equal([streamed.output_text, streamed.instructions], ['Hi', null])
  }))

test.whole(
  'an answer with more text or items than its events can hold fails, whole, streamed and in the background',
  () =>
    withLibraries(
      (request, response) => {
        const isLong = request.body.includes('long')
        const text = isLong ? 'y'.repeat(900_000) : ''
        const deltas = Array.from({ length: isLong ? 5 : 1_001 }, (_, index) =>
          isLong ? { content: text } : callAt(index),
        )
        if (JSON.parse(request.body).stream !== true)
          return json(response, 200, isLong ? completion(text.repeat(5)) : calls())
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const delta of deltas) response.write(chunk({ role: 'assistant', ...delta }))
        response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
      },
      async ({ openai }) => {
        for (const [input, told] of [
          ['long', /more than 4194304 characters/],
          ['many', /more than 1000 (?:items|calls)/],
        ] as const) {
          const failure = await failureOf(() => openai.responses.create({ model, input }))
          assert.is(failure['status'], 502)
          assert.match(failure.message, told)
          const streamed = await failureOf(() => openai.responses.stream({ model, input }).finalResponse())
          assert.match(streamed.message, told)
          const { id } = await openai.responses.create({ model, input, background: true })
          const failed = await ended(openai, id)
          assert.is(failed.status, 'failed')
          assert.match(failed.error!.message, told)
        }
      },
      { maxRetries: 0 },
    ),
)

test.whole('events of an answer in the background that are too many fail it with that reason', () =>
  withLibraries(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let at = 0; at < 90; at++) response.write(chunk({ content: 'z' }).repeat(1_000))
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    },
    async ({ openai }) => {
      const { id } = await openai.responses.create({ model, input: 'One', background: true })
      const failed = await ended(openai, id)
      assert.match(failed.error!.message, /more than 16777216 characters of events/)
      const types: string[] = []
      for await (const event of await openai.responses.retrieve(id, { stream: true })) types.push(event.type)
      assert.equal(types, ['response.created', 'response.failed'])
    },
    { maxRetries: 0 },
  ),
)

test('an error names ten of two thousand unknown items, and counts the others', () =>
  withLibraries(answering('Hi'), async ({ openai }) => {
    const input = Array.from({ length: 2_000 }, (_, at) => ({ type: 'item_reference' as const, id: `msg_${at}` }))
    const { message } = await failureOf(() => openai.responses.create({ model, input }))
    assert.match(message, /'msg_9' not found.*1990 more were not found/)
    assert.not.match(message, /msg_10'/)
  }))

test.run()

function answering(text: string): Answer {
  return ({ body }, response) => {
    if (JSON.parse(body).stream !== true) return json(response, 200, completion(text))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunk({ role: 'assistant', content: text })}${chunk({}, 'stop')}data: [DONE]\n\n`)
  }
}

function chunk(delta: object, finish_reason: string | null = null): string {
  const fields = { id: 'x', object: 'chat.completion.chunk', created: 1_790_000_000, model }
  return `data: ${JSON.stringify({ ...fields, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}

function callAt(index: number): object {
  return { tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }] }
}

function calls(): object {
  const whole = completion('') as { choices: readonly object[] }
  const tool_calls = Array.from({ length: 1_001 }, (_, index) => ({
    id: `c${index}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }))
  const message = { role: 'assistant', content: null, tool_calls }
  return { ...whole, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
}
