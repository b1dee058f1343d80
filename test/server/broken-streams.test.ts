// Some with --all only: a whole sample.
import { APICallError, streamText } from 'ai'
import * as assert from 'uvu/assert'
import {
  type ClientLibraries,
  eventStream,
  eventsText,
  failureOf,
  namedText,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import type { Answer } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('streams that break, as client libraries see them')

const ask = [{ role: 'user' as const, content: 'Hi' }]

/** Reads a stream to its end with each of the libraries, signals the first words, and passes on the library's error. */
const readers: Record<string, (libraries: ClientLibraries, heard: () => void) => Promise<unknown>> = {
  openai: async ({ openai }, heard) => {
    const stream = await openai.chat.completions.create({ model: 'custom-model', messages: ask, stream: true })
    for await (const { choices } of stream) if (choices[0]?.delta.content) heard()
  },
  'openai.stream': ({ openai }, heard) =>
    openai.chat.completions.stream({ model: 'custom-model', messages: ask }).on('content', heard).finalChatCompletion(),
  anthropic: ({ anthropic }, heard) =>
    anthropic.messages.stream({ model: 'custom-model', max_tokens: 9, messages: ask }).on('text', heard).finalMessage(),
  ai: async ({ ai }, heard) => {
    const model = ai.chat('custom-model')
    for await (const part of streamText({ model, messages: ask, maxRetries: 0, onError: () => {} }).fullStream) {
      if (part.type === 'text-delta') heard()
      if (part.type === 'error') throw part.error
    }
  },
}

const chunk = (delta: object) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
})
const begun = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' })]
const told = { error: { message: 'Slow down, please', type: 'tokens', param: null, code: 'rate_limit_exceeded' } }

/** The bytes after the first words; undefined cuts the connection. */
const breaks: Record<string, readonly unknown[]> = {
  'an error of the provider': [told],
  'an error beside choices, as OpenRouter writes it': [
    { ...chunk({}), ...told, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] },
    '[DONE]',
  ],
}

for (const [what, rest] of Object.entries(breaks))
  for (const [library, read] of Object.entries(readers))
    test(`${what} after the first words is an error for ${library}, with the provider’s names`, async () => {
      const { answer, heard } = inTwo(eventsText(begun), eventsText(rest))
      await withLibraries(answer, async (libraries) => {
        const failure = await failureOf(() => read(libraries, heard))
        const shown = `${failure.message} ${JSON.stringify(failure)}`
        assert.match(shown, /broke off.+Slow down, please/)
        if (library.startsWith('openai')) {
          assert.equal([failure['code'], failure['type']], ['rate_limit_exceeded', 'tokens'])
        } else if (library === 'anthropic') assert.match(shown, /"error_code":"rate_limit_exceeded"/)
        else assert.match(shown, /rate_limit_exceeded/)
      })
    })

for (const [library, read] of Object.entries(readers)) {
  test(`a connection that is cut after the first words is an error for ${library}`, () =>
    withCut(async (libraries, heard) => {
      const failure = await failureOf(() => read(libraries, heard))
      assert.match(`${failure.message} ${JSON.stringify(failure)}`, /broke off/)
    }))

  test(`a stream that breaks before its first word is an error with a status for ${library}`, () =>
    withLibraries(
      eventStream([told]),
      async (libraries) => {
        const failure = await failureOf(() => read(libraries, () => {}))
        const status = library === 'ai' && APICallError.isInstance(failure) ? failure.statusCode : failure['status']
        assert.is(status, 429)
        assert.match(`${failure.message} ${JSON.stringify(failure)}`, /Slow down, please/)
      },
      { maxRetries: 0 },
    ))
}

test('an overloaded Anthropic provider is that for Anthropic’s client, and says its own name to OpenAI’s', async () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } }
  const before = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  ]
  const after = [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]
  const failureFor = async (library: string) => {
    const { answer, heard } = inTwo(namedText(before), namedText(after))
    let failure: Record<string, unknown> | undefined
    const run = async (libraries: ClientLibraries) => {
      failure = await failureOf(() => readers[library]!(libraries, heard))
    }
    await withLibraries(answer, run, { plugin: { api: 'anthropic-messages' } })
    return failure!
  }
  assert.is((await failureFor('anthropic'))['type'], 'overloaded_error')
  const theirs = await failureFor('openai')
  assert.equal([theirs['type'], theirs['code']], ['overloaded_error', null])
})

test('the last event of /api/chat is an error alone, with the provider’s names and the status it stands for', async () => {
  const { answer, heard } = inTwo(eventsText(begun), eventsText([told]))
  await withLibraries(answer, async ({ url }) => {
    const body = JSON.stringify({ messages: ask, stream: true })
    const response = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    let text = ''
    for await (const piece of response.body!) {
      text += Buffer.from(piece).toString('utf8')
      if (text.includes('Hel')) heard()
    }
    const last = text.trim().split('\n\n').at(-1)!
    assert.match(last, /^event: error\ndata: /)
    const event = JSON.parse(last.replace(/^event: error\ndata: /, ''))
    assert.equal([event.choices, event.code, event.type], [undefined, 'rate_limit_exceeded', 'tokens'])
    assert.is(event.status, 502)
    assert.match(event.details.join(), /Slow down/)
  })
})

test.whole('an answer with more calls than anyone makes ends as an error in each dialect', () => {
  const calls = [...Array(1_001).keys()].map((index) =>
    chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }] }),
  )
  const answer: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(eventsText([...begun, ...calls, '[DONE]']))
  }
  return withLibraries(answer, async (libraries) => {
    for (const read of Object.values(readers)) {
      const failure = await failureOf(() => read(libraries, () => {}))
      assert.match(JSON.stringify(failure) + failure.message, /more than 1000 calls/)
    }
    const stream = await libraries.ollama.chat({ model: 'custom-model', messages: ask, stream: true })
    const failure = await failureOf(async () => {
      for await (const { done } of stream) assert.is(done, false)
    })
    assert.match(failure.message, /more than 1000 calls/)
  })
})

test.run()

/** Sends the rest once the first words have been heard; without a rest the connection is cut. */
function inTwo(first: string, rest: string | undefined): { answer: Answer; heard: () => void } {
  let heard = () => {}
  const gate = new Promise<void>((resolve) => {
    heard = resolve
  })
  const answer: Answer = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first)
    await gate
    if (rest === undefined) response.destroy()
    else response.end(rest)
  }
  return { answer, heard }
}

function withCut(run: (libraries: ClientLibraries, heard: () => void) => Promise<void>): Promise<void> {
  const { answer, heard } = inTwo(eventsText(begun), undefined)
  return withLibraries(answer, (libraries) => run(libraries, heard))
}
