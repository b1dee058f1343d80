import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import type { Ollama, Message as OllamaMessage } from 'ollama'
import * as assert from 'uvu/assert'
import { type ChatRequest, type Message, textOf } from '../../src/chat/protocol/messages.ts'
import {
  type ClientLibraries,
  type DialectId,
  endpoints,
  eventsText,
  openLibraries,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import { json } from '../helpers/providers/fake-provider.ts'
import { calling, speaking } from '../helpers/speech/speaking-model.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('every default mode of the client libraries, before a provider of every dialect')

/**
 * A model that calls a tool offered to it, repeats the tool's answer, gives JSON when asked for it, and else greets.
 */
function reply({ messages, tools, response_format: format }: ChatRequest): Partial<Message> {
  const last = messages.at(-1)!
  if (last.role === 'tool') return { content: `The tool says ${textOf(last.content)}` }
  if (tools?.length) return { content: '', ...calling('weather', { city: 'Bern' }, 'call_1') }
  return { content: format && format.type !== 'text' ? '{"city":"Bern"}' : 'Hello there' }
}

const ask = { model: 'custom-model', messages: [{ role: 'user' as const, content: 'Weather in Bern?' }] }
const claude = { ...ask, max_tokens: 99 }
const place = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}
const forecast = (input: { readonly city?: unknown }) => `sunny in ${input.city}`
const greeting = 'Hello there'
const told = 'The tool says sunny in Bern'
const object = { city: 'Bern' }

/** Each mode must give the value beside it. */
const modes: Record<string, readonly [(libraries: ClientLibraries) => Promise<unknown>, unknown]> = {
  'openai create': [
    async ({ openai }) => (await openai.chat.completions.create(ask)).choices[0]!.message.content,
    greeting,
  ],
  'openai stream': [({ openai }) => openai.chat.completions.stream(ask).finalContent(), greeting],
  'openai stream with counts': [
    async ({ openai }) => {
      const stream_options = { include_usage: true }
      let total: number | undefined
      for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true, stream_options }))
        total = chunk.usage?.total_tokens ?? total
      return total
    },
    7,
  ],
  'openai runTools': [
    ({ openai }) => openai.chat.completions.runTools({ ...ask, tools: [openaiTool()] }).finalContent(),
    told,
  ],
  'openai runTools, streamed': [
    ({ openai }) => openai.chat.completions.runTools({ ...ask, stream: true, tools: [openaiTool()] }).finalContent(),
    told,
  ],
  'openai parse': [
    async ({ openai }) => {
      const json_schema = { name: 'place', strict: true, schema: place }
      const parsed = await openai.chat.completions.parse({
        ...ask,
        response_format: { type: 'json_schema', json_schema },
      })
      return JSON.parse(parsed.choices[0]!.message.content!)
    },
    object,
  ],
  'anthropic create': [async ({ anthropic }) => textIn(await anthropic.messages.create(claude)), greeting],
  'anthropic stream': [({ anthropic }) => anthropic.messages.stream(claude).finalText(), greeting],
  'anthropic tool runner': [
    async ({ anthropic }) =>
      textIn(await anthropic.beta.messages.toolRunner({ ...claude, tools: [anthropicTool()] }).runUntilDone()),
    told,
  ],
  'anthropic tool runner, streamed': [
    async ({ anthropic }) =>
      textIn(
        await anthropic.beta.messages.toolRunner({ ...claude, stream: true, tools: [anthropicTool()] }).runUntilDone(),
      ),
    told,
  ],
  'anthropic structured output': [
    async ({ anthropic }) => {
      const format = { type: 'json_schema' as const, schema: place }
      return JSON.parse(textIn(await anthropic.messages.create({ ...claude, output_config: { format } })))
    },
    object,
  ],
  'ollama chat': [async ({ ollama }) => (await ollama.chat(ask)).message.content, greeting],
  'ollama chat, streamed': [
    async ({ ollama }) => {
      const parts = []
      for await (const part of await ollama.chat({ ...ask, stream: true })) parts.push(part)
      const last = parts.at(-1)!
      const counts = [last.done, last.done_reason, last.prompt_eval_count, last.eval_count, last.eval_duration > 0]
      return [parts.map(({ message }) => message.content).join(''), ...counts, last.model]
    },
    [greeting, true, 'stop', 5, 2, true, 'custom-model'],
  ],
  'ollama tool over two turns': [({ ollama }) => ollamaTool(ollama, false), told],
  'ollama tool over two turns, streamed': [({ ollama }) => ollamaTool(ollama, true), told],
  'ollama structured output': [
    async ({ ollama }) => JSON.parse((await ollama.chat({ ...ask, format: place })).message.content),
    object,
  ],
  'ollama generate': [
    async ({ ollama }) => (await ollama.generate({ model: 'custom-model', prompt: 'Hi', system: 'Be kind.' })).response,
    greeting,
  ],
  'ollama generate, streamed': [
    async ({ ollama }) => {
      let text = ''
      for await (const part of await ollama.generate({ model: 'custom-model', prompt: 'Hi', stream: true }))
        text += part.response
      return text
    },
    greeting,
  ],
  'ai generateText': [
    async ({ ai }) => (await generateText({ model: ai.chat('custom-model'), messages: ask.messages })).text,
    greeting,
  ],
  'ai streamText': [
    async ({ ai }) => streamText({ model: ai.chat('custom-model'), messages: ask.messages }).text,
    greeting,
  ],
  'ai generateText with a tool': [
    async ({ ai }) =>
      (await generateText({ model: ai.chat('custom-model'), messages: ask.messages, ...aiTools() })).text,
    told,
  ],
  'ai streamText with a tool': [
    async ({ ai }) => streamText({ model: ai.chat('custom-model'), messages: ask.messages, ...aiTools() }).text,
    told,
  ],
  'ai generateObject': [
    async ({ ai }) => {
      const schema = jsonSchema<{ city: string }>(place)
      return (await generateObject({ model: ai.chat('custom-model'), messages: ask.messages, schema })).object
    },
    object,
  ],
}

for (const api of Object.keys(endpoints) as DialectId[]) {
  let libraries: Awaited<ReturnType<typeof openLibraries>>
  test.before(async () => {
    libraries = await openLibraries(speaking(api, reply), { plugin: { api }, maxRetries: 0 })
  })
  test.after(() => libraries.close())
  for (const [mode, [run, wanted]] of Object.entries(modes))
    test(`${mode} before a provider of ${api}`, async () => assert.equal(await run(libraries), wanted))
}

test('answers of a provider that gives no ids have ids of their own, whole and streamed', () => {
  const choice = { index: 0, finish_reason: 'stop' }
  const message = { role: 'assistant', content: greeting }
  return withLibraries(
    ({ body }, response) => {
      if (!JSON.parse(body).stream) return json(response, 200, { choices: [{ ...choice, message }] })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(eventsText([{ choices: [{ ...choice, delta: message }] }, '[DONE]']))
    },
    async ({ openai, anthropic }) => {
      const ids = []
      for (let turn = 0; turn < 2; turn++) {
        ids.push((await openai.chat.completions.create(ask)).id)
        ids.push((await openai.chat.completions.stream(ask).finalChatCompletion()).id)
        ids.push((await anthropic.messages.create(claude)).id)
        ids.push((await anthropic.messages.stream(claude).finalMessage()).id)
      }
      assert.ok(ids.every(Boolean), String(ids))
      assert.is(new Set(ids).size, ids.length)
    },
  )
})

test.run()

function openaiTool() {
  const parse = (text: string) => JSON.parse(text) as { city: string }
  return {
    type: 'function' as const,
    function: { name: 'weather', description: 'The weather', parameters: place, parse, function: forecast },
  }
}

function anthropicTool() {
  return betaTool({ name: 'weather', description: 'The weather', inputSchema: place, run: forecast })
}

/** Calls the tool that the model asks for, and sends its answer back as Ollama's documentation shows it. */
async function ollamaTool(ollama: Ollama, stream: boolean): Promise<string> {
  const tools = [{ type: 'function', function: { name: 'weather', description: 'The weather', parameters: place } }]
  const messages: OllamaMessage[] = [...ask.messages]
  const say = async () => {
    const request = { model: ask.model, messages, tools }
    const whole: OllamaMessage = { role: 'assistant', content: '' }
    const parts = stream ? await ollama.chat({ ...request, stream: true }) : [await ollama.chat(request)]
    for await (const { message } of parts) {
      whole.content += message.content
      if (message.tool_calls) whole.tool_calls = [...(whole.tool_calls ?? []), ...message.tool_calls]
    }
    messages.push(whole)
    return whole
  }
  for (const call of (await say()).tool_calls ?? [])
    messages.push({ role: 'tool', tool_name: call.function.name, content: forecast(call.function.arguments) })
  return (await say()).content
}

function aiTools() {
  const inputSchema = jsonSchema<{ city: string }>(place)
  return {
    tools: { weather: tool({ inputSchema, execute: async (input) => forecast(input) }) },
    stopWhen: stepCountIs(3),
  }
}

function textIn({ content }: { content: readonly { readonly type: string; readonly text?: string }[] }): string {
  return content.map((block) => block.text ?? '').join('')
}
