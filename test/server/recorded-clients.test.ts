import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, jsonSchema, type LanguageModel, streamText, type ToolSet } from 'ai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { dialectOf, failsInside } from '../helpers/chat/exchange-checks.ts'
import { type Exchange, isChat, isStreamed, loadExchanges } from '../helpers/chat/exchanges.ts'
import { factsOf } from '../helpers/chat/facts.ts'
import { testData } from '../helpers/data.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('client libraries and recorded answers of every provider')

type Call = { readonly name: string; readonly input: unknown }

type Told = { readonly text: string; readonly calls: readonly Call[] }

interface Asked {
  readonly model: string
  readonly stream: boolean
  /** The names of the tools that the answer calls. */
  readonly tools: readonly string[]
}

type Library = (url: string, asked: Asked) => Promise<Told>

const hello = [{ role: 'user' as const, content: 'Hello' }]
const parameters = { type: 'object' as const, properties: {} }
const key = { apiKey: 'ours', maxRetries: 0 }

/** The values that each library returns to its user; each reads streams and whole answers in its own way. */
const libraries: Record<string, Library> = {
  async 'OpenAI’s, chat completions'(url, { model, stream, tools: names }) {
    const { completions } = new OpenAI({ baseURL: `${url}/v1`, ...key }).chat
    const tools = names.map((name) => ({ type: 'function' as const, function: { name, parameters } }))
    const body = { model, messages: hello, ...(tools.length > 0 && { tools }) }
    const reply = await (stream ? completions.stream(body).finalChatCompletion() : completions.create(body))
    const { content, refusal, tool_calls: calls = [] } = reply.choices[0]!.message
    return {
      text: `${content ?? ''}${refusal ?? ''}`,
      calls: calls.flatMap((call) => (call.type === 'function' ? [callOf(call.function)] : [])),
    }
  },
  async 'OpenAI’s, responses'(url, { model, stream, tools: names }) {
    const { responses } = new OpenAI({ baseURL: `${url}/v1`, ...key })
    const tools = names.map((name) => ({ type: 'function' as const, name, parameters, strict: false }))
    const body = { model, input: 'Hello', tools }
    const { output } = await (stream ? responses.stream(body).finalResponse() : responses.create(body))
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
    return {
      text: parts.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join(''),
      calls: output.flatMap((item) => {
        if (item.type === 'custom_tool_call') return [{ name: item.name, input: { input: item.input } }]
        return item.type === 'function_call' ? [callOf(item)] : []
      }),
    }
  },
  async 'Anthropic’s'(url, { model, stream, tools: names }) {
    const { messages } = new Anthropic({ baseURL: url, ...key })
    const tools = names.map((name) => ({ name, input_schema: parameters }))
    const body = { model, max_tokens: 999, messages: hello, tools }
    const { content } = await (stream ? messages.stream(body).finalMessage() : messages.create(body))
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
    }
  },
  async 'Ollama’s'(url, { model, stream, tools: names }) {
    const ollama = new Ollama({ host: `${url}/ollama`, headers: { authorization: 'Bearer ours' } })
    const tools = names.map((name) => ({ type: 'function', function: { name, description: '', parameters } }))
    const body = { model, messages: hello, tools }
    const parts = stream ? await ollama.chat({ ...body, stream: true }) : [await ollama.chat(body)]
    let text = ''
    const calls: Call[] = []
    for await (const { message } of parts) {
      text += message.content
      for (const call of message.tool_calls ?? [])
        calls.push({ name: call.function.name, input: call.function.arguments })
    }
    return { text, calls }
  },
  async 'Vercel’s, responses'(url, asked) {
    return vercel(createOpenAI({ baseURL: `${url}/v1`, apiKey: 'ours' })(asked.model), asked)
  },
  async 'Vercel’s, chat completions'(url, asked) {
    return vercel(createOpenAI({ baseURL: `${url}/v1`, apiKey: 'ours' }).chat(asked.model), asked)
  },
}

const folder = testData('cassettes')
const answers = folder === undefined ? [] : loadExchanges(folder).filter(isChat).filter(isAnswer)

/** The libraries that an answer is played to where a sample does: the first of each kind to all, the next ones to one in turn. */
const chosen = new Map<Exchange, (place: number) => boolean>()
const seen = new Map<string, number>()
for (const exchange of answers) {
  const { text, calls } = toldBy(exchange)
  const kind = [dialectOf(exchange).id, isStreamed(exchange), text === '', calls.length === 0].join(' ')
  const nth = seen.get(kind) ?? 0
  seen.set(kind, nth + 1)
  chosen.set(exchange, (place) => isWholeRun || nth === 0 || nth % Object.keys(libraries).length === place)
}

for (const [place, [name, ask]] of Object.entries(libraries).entries())
  (answers.length > 0 ? test : test.skip)(`${name}: every recorded answer arrives with its words and calls`, () =>
    replaying(async (play) => {
      const wrong: string[] = []
      for (const exchange of answers) {
        if (!chosen.get(exchange)!(place)) continue
        const { text, calls } = toldBy(exchange)
        const tools = [...new Set(calls.map((call) => call.name))]
        try {
          assert.equal(await play(exchange, (url, model) => ask(url, { model, stream: isStreamed(exchange), tools })), {
            text,
            calls,
          })
        } catch (error) {
          wrong.push(`${exchange.name}: ${String(error)} ${(error as { details?: unknown }).details ?? ''}`)
        }
      }
      if (wrong.length > 0) assert.unreachable(`\n${wrong.join('\n')}`)
    }),
  )

test.run()

function toldBy(exchange: Exchange): Told {
  return factsOf(dialectOf(exchange).id, exchange.answer, isStreamed(exchange)).choices[0]!
}

function isAnswer(exchange: Exchange): boolean {
  return exchange.status === 200 && !failsInside(exchange) && !exchange.expect.failure
}

/** Serves a daemon with a provider that plays one exchange at a time, each by a plugin of its own. */
async function replaying(
  work: (
    play: (exchange: Exchange, ask: (url: string, model: string) => Promise<Told>) => Promise<Told>,
  ) => Promise<void>,
): Promise<void> {
  let playing: Exchange | undefined
  await using provider = await openStandIn((_request, response) => {
    const type = playing!.headers['content-type'] ?? 'application/json'
    response.writeHead(playing!.status, { 'content-type': type }).end(playing!.answer)
  })
  await using installation = openInstallation()
  const { plugins } = installation.app
  const url = await installation.serve()
  await work(async (exchange, ask) => {
    playing = exchange
    const id = `played-${provider.received.length}`
    const { pathname, search } = new URL(exchange.url)
    await plugins.install({
      id,
      name: 'Played',
      type: 'chat',
      endpoint: `${provider.url}${pathname}${search}`,
      auth: { header: '', key_env: '' },
      model_map: ['a-model'],
      api: dialectOf(exchange).id,
      retry: { attempts: 1 },
    })
    try {
      return await ask(url, `${id}:a-model`)
    } finally {
      await plugins.remove(id)
    }
  })
}

/** Calls of tools that OpenAI runs itself are none of the user's. The input of a custom tool is a text. */
async function vercel(model: LanguageModel, { stream, tools: names }: Asked): Promise<Told> {
  const tools: ToolSet = Object.fromEntries(names.map((name) => [name, { inputSchema: jsonSchema(parameters) }]))
  const body = { model, messages: hello, tools, maxRetries: 0 }
  const { text, toolCalls } = stream ? streamText(body) : await generateText(body)
  return {
    text: await text,
    calls: (await toolCalls)
      .filter(({ providerExecuted }) => !providerExecuted)
      .map(({ toolName: name, input }) => ({ name, input: typeof input === 'string' ? { input } : input })),
  }
}

function callOf({ name, arguments: text }: { readonly name: string; readonly arguments: string }): Call {
  return { name, input: JSON.parse(text) }
}
