// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import type { App } from '../../src/app/compose.ts'
import { type ChatRequest, type Message, textOf } from '../../src/chat/protocol/messages.ts'
import { pinOf } from '../../src/chat/tools/pins.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { openLibraries } from '../helpers/program/client-libraries.ts'
import { callApi } from '../helpers/program/daemon.ts'
import { markedCache, prefixCache } from '../helpers/providers/prompt-cache.ts'
import { calling, speaking } from '../helpers/speech/speaking-model.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('the prefix of a long conversation')

/** Each kind of turn comes twice, or five times. */
const turns = isWholeRun ? 20 : 8
const prompt = `You are Mia. ${'You know the harbour of Bern, and say so plainly. '.repeat(120)}`
const cities = ['Bern', 'Ulm', 'Genoa', 'Porto', 'Turku']

/** Calls `echo` where the user asks for it, and else repeats how much it was told. */
function say({ messages }: ChatRequest): Partial<Message> {
  const last = messages.at(-1)!
  if (last.role === 'user' && textOf(last.content).includes('Please echo')) return calling('tools__echo', { text: 'x' })
  return { content: `I read ${messages.length} messages. `.repeat(20) }
}

/** The user's message of a turn: statements, questions about them, files, and calls of a tool. */
function question(turn: number) {
  const city = cities[turn % cities.length]
  if (turn % 4 === 1) return `My friend number ${turn} sells lamps in ${city}.`
  if (turn % 4 === 2) return `Where does my friend number ${turn - 1} sell lamps?`
  if (turn % 4 === 3) return `Please echo x, since my friend number ${turn - 2} sells lamps in ${city}`
  return [
    { type: 'text', text: `<file path="notes-${turn}.txt">\n${`line ${turn}\n`.repeat(200)}</file>` },
    { type: 'text', text: `What do the notes of my friend in ${city} say of lamps?` },
  ]
}

const dialects = {
  'openai-chat': { list: 'messages', count: prefixCache('messages') },
  'anthropic-messages': { list: 'messages', count: markedCache() },
  gemini: { list: 'contents', count: prefixCache('contents') },
} as const

type Turn = { readonly role: string; readonly content?: unknown; readonly parts?: readonly object[] }

/** The place of the user's last message, which is no result of a tool. */
function lastQuestion(list: readonly Turn[]): number {
  return list.findLastIndex(
    ({ role, content, parts }) =>
      role === 'user' && !/"(?:tool_result|functionResponse)"/.test(JSON.stringify(content ?? parts)),
  )
}

/** A request as it was sent, without Anthropic's marks, which belong to no prefix. */
function unmarked(body: string) {
  return JSON.parse(body.replaceAll(',"cache_control":{"type":"ephemeral"}', ''))
}

async function allowEcho(app: App): Promise<void> {
  const servers = await app.toolServers()
  const [command, ...args] = toolServerCommand
  servers.list.set('tools', { command, args, timeout: 5 })
  const server = await servers.open('tools')
  const echo = (await server.tools()).find(({ name }) => name === 'echo')!
  servers.list.decide({ server: 'tools', tool: 'echo', pin: pinOf(server, echo), decision: 'always', service: true })
  await server.close()
}

for (const api of isWholeRun
  ? (['openai-chat', 'anthropic-messages', 'gemini'] as const)
  : (['anthropic-messages'] as const))
  test(`is the same from turn to turn, with tools, files and memories, and most of it is cached (${api})`, async () => {
    const { list, count } = dialects[api]
    await using libraries = await openLibraries(speaking(api, say, count), { plugin: { api } })
    const { app, provider } = libraries
    const call = callApi(libraries.url)
    await allowEcho(app)
    const more = { system_prompt: prompt, memory_settings: { enabled: true }, mcp_servers: ['tools'] }
    await call('POST', '/api/personas', { body: { name: 'Mia', model: 'custom-model', ...more } })
    const { body: session } = await call('POST', '/api/sessions', { body: { persona: 'Mia', name: 'Long' } })
    const firsts: string[] = []
    let remembered = 0
    for (let turn = 1; turn <= turns; turn++) {
      const from = provider.received.length
      const messages = [{ role: 'user', content: question(turn) }]
      const { status, body } = await call('POST', '/api/chat', { body: { session: session.id, messages } })
      assert.is(status, 200, JSON.stringify(body))
      remembered += Number(body.aichat.memories.length > 0)
      const sent = provider.received.slice(from).map(({ body: text }) => text)
      firsts.push(sent[0]!)
      const rounds = sent.map((text) => JSON.stringify(unmarked(text)[list]))
      assert.is(rounds.length, turn % 4 === 3 ? 2 : 1, `the rounds of turn ${turn}`)
      for (const [at, later] of rounds.slice(1).entries())
        assert.ok(later.startsWith(rounds[at]!.slice(0, -1)), 'a round goes on with the one before')
    }
    assert.ok(remembered >= turns / 4, `memories were found in ${remembered} turns`)
    for (const [at, later] of firsts.slice(1).entries()) {
      const [one, next] = [unmarked(firsts[at]!), unmarked(later)]
      const history = JSON.stringify(one[list].slice(0, lastQuestion(one[list]))).slice(0, -1)
      assert.ok(JSON.stringify(next[list]).startsWith(history), `turn ${at + 2} begins as turn ${at + 1}`)
      for (const field of ['tools', 'system', 'systemInstruction'])
        assert.ok(JSON.stringify(next[field]) === JSON.stringify(one[field]), `${field} of turn ${at + 2}`)
      assert.ok(lastQuestion(next[list]) >= 2 * at, 'the whole history is sent')
    }
    const { total } = (await call('GET', '/api/usage?by=')).body
    assert.ok(total.cached_percent > (isWholeRun ? 70 : 50), `${total.cached_percent} % was cached`)
    assert.is(total.cached_percent, Math.round((1000 * total.cached_tokens) / total.input_tokens) / 10)
  })

/** The requests of a persona's chats at Anthropic, each after the ones before it in the same session. */
async function requestsOf(persona: object, ...asked: readonly object[]): Promise<readonly string[]> {
  await using libraries = await openLibraries(speaking('anthropic-messages', say), {
    plugin: { api: 'anthropic-messages' },
  })
  const call = callApi(libraries.url)
  const { body: made } = await call('POST', '/api/personas', {
    body: { name: 'Mia', model: 'custom-model', ...persona },
  })
  await call('POST', `/api/personas/${made.id}/memory`, { body: { content: 'My friend sells lamps in Bern.' } })
  const { body: session } = await call('POST', '/api/sessions', { body: { persona: 'Mia' } })
  for (const more of asked) {
    const messages = [{ role: 'user', content: 'Where does my friend sell lamps?' }]
    const { status, body } = await call('POST', '/api/chat', { body: { session: session.id, messages, ...more } })
    assert.is(status, 200, JSON.stringify(body))
  }
  return libraries.provider.received.map(({ body }) => body)
}

const marks = (body: string) => body.split('"cache_control"').length - 1
const remembering = { memory_settings: { enabled: true } }

test('is marked for Anthropic in long conversations, and never where the client marks its own', async () => {
  const long = await requestsOf({ system_prompt: prompt }, {}, {})
  assert.equal(long.map(marks), [1, 2])
  const { system, messages } = JSON.parse(long[1]!)
  assert.equal(system.at(-1).cache_control, { type: 'ephemeral' })
  assert.equal(
    messages.map(({ content }: { content: readonly object[] }) => 'cache_control' in content.at(-1)!),
    [false, true, false],
    'the history is cached, and the new question is not',
  )
  assert.equal((await requestsOf({ system_prompt: 'You are Mia.' }, {}, {})).map(marks), [0, 0])
  const own = { content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }
  assert.equal(
    (await requestsOf({ system_prompt: prompt }, {}, { messages: [{ role: 'user', ...own }] })).map(marks),
    [1, 1],
  )
})

test('holds no memory, unless the persona has them in her system prompt', async () => {
  const found = /- \[[^\]]+\] My friend sells lamps in Bern\./
  const [body] = await requestsOf({ system_prompt: prompt, ...remembering }, {})
  const { system, messages } = JSON.parse(body!)
  assert.not.match(JSON.stringify(system), found)
  assert.match(
    messages[0].content.at(-1).text,
    /^\[Notes for you, which the user does not see\]\n[\s\S]*never instructions:\n- \[.*\n\n\[The user's message\]\nWhere does/,
  )
  const memory_settings = { enabled: true, placement: 'system' }
  const [first] = await requestsOf({ system_prompt: prompt, memory_settings }, {})
  assert.match(JSON.stringify(JSON.parse(first!).system), found)
  assert.not.match(JSON.stringify(JSON.parse(first!).messages), found)
})

test('is marked for the models of Anthropic at OpenRouter', async () => {
  await using libraries = await openLibraries(speaking('openai-chat', say), {
    environment: { OPENROUTER_API_KEY: 'sk-of-the-test' },
  })
  const call = callApi(libraries.url)
  await call('POST', '/api/personas', { body: { name: 'Mia', model: 'custom-model', system_prompt: prompt } })
  for (const [model, count] of [
    ['anthropic/claude-sonnet-4.5', 1],
    ['openai/gpt-4.1', 0],
  ] as const) {
    const messages = [{ role: 'user', content: 'Hello' }]
    const asked = { persona: 'Mia', model: `openrouter:${model}`, messages }
    const { body } = await call('POST', '/api/chat/preview', { body: asked })
    assert.is(marks(JSON.stringify(body.body)), count, JSON.stringify(body).slice(0, 300))
  }
})

test.run()
