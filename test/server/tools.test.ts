// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { pinOf } from '../../src/chat/tools/pins.ts'
import { createToolQuestions } from '../../src/chat/tools/questions.ts'
import { until } from '../helpers/eventually.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { resigned } from '../helpers/personas/package-forge.ts'
import { pluck } from '../helpers/pluck.ts'
import { type As, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { resultsIn, scripted, sent, type Turn } from '../helpers/providers/scripted-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('tools in chats over HTTP')

/** The pins of the server's tools by their names: the same in every installation. */
const pins = new Map<string, string>()

interface Setting extends UserDaemon {
  /** Allows tools for chats over HTTP, as `aichat mcp allow --service` does, or with a question, as `--ask` does. */
  allow(...tools: readonly string[]): Promise<void>
  allowAsking(...tools: readonly string[]): Promise<void>
}

/** The API with a server of tools that is configured, a persona Mia that names it, and a provider of these turns. */
function withTools(turns: readonly Turn[], work: (setting: Setting) => Promise<void>): Promise<void> {
  return withUsers(
    async (daemon) => {
      const servers = await daemon.installation.app.toolServers()
      const [command, ...args] = toolServerCommand
      servers.list.set('tools', { command, args, timeout: 5 })
      await daemon.persona({ model: 'custom-model', memory_settings: { enabled: true }, mcp_servers: ['tools'] })
      const decide =
        (decision: 'always' | 'ask') =>
        async (...tools: readonly string[]) => {
          if (pins.size === 0) {
            const server = await servers.open('tools')
            for (const tool of await server.tools()) pins.set(tool.name, pinOf(server, tool))
            await server.close()
          }
          for (const tool of tools)
            servers.list.decide({ server: 'tools', tool, pin: pins.get(tool)!, decision, service: true })
        }
      await work({ ...daemon, allow: decide('always'), allowAsking: decide('ask') })
    },
    { provider: scripted(turns) },
  )
}

/** Streams a chat with the steps of its calls; `onQuestion` hears of each question. */
async function stepsOf(url: string, onQuestion: (id: string) => unknown, signal?: AbortSignal) {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { authorization: 'Bearer ada', 'content-type': 'application/json' },
    body: JSON.stringify(ask({ stream: true, tool_steps: true })),
    ...(signal && { signal }),
  })
  const steps: { id: string; state: string; arguments: string; result?: string }[] = []
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    for (const [, json] of text.matchAll(/^data: (\{.*\})\n/gm)) {
      const { tool } = JSON.parse(json!).aichat ?? {}
      if (tool) steps.push(tool)
      if (tool?.state === 'asks') await onQuestion(tool.id)
    }
    text = text.slice(text.lastIndexOf('\n\n') + 1)
  }
  return steps
}

const ask = (more: object = {}) => ({ persona: 'Mia', messages: [{ role: 'user', content: 'I live in Ulm' }], ...more })

test('only the tools that the operator allowed are offered, and are called by the daemon', () =>
  withTools([[['tools__echo', { text: 'Ulm' }]], 'Done.'], async ({ ada, allow, provider }) => {
    await allow('echo')
    const { status, body } = await ada('POST', '/api/chat', ask())
    assert.equal([status, body.choices[0].message.content], [200, 'Done.'])
    assert.equal(body.aichat.warnings, [])
    assert.equal(
      sent(provider.received[0]!).tools!.map((tool) => tool.function.name),
      ['tools__echo'],
    )
    assert.equal(resultsIn(provider.received), ['You said: Ulm'])
  }))

test('streamed, the client sees one answer: texts, no calls, one end', () =>
  withTools([[['tools__echo', { text: 'Ulm' }]], 'Done.'], async ({ stream, allow, ada }) => {
    await allow('echo')
    const { id } = (await ada('POST', '/api/sessions', { persona: 'Mia' })).body
    const text = await stream('ada', ask({ stream: true, session: id }))
    const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json!))
    const deltas = chunks.flatMap(({ choices }) => choices)
    assert.is(deltas.map(({ delta }) => delta.content ?? '').join(''), 'Done.')
    assert.not.match(text, 'tool_calls')
    assert.equal(
      deltas.map(({ finish_reason }) => finish_reason).filter((reason) => reason !== null),
      ['stop'],
    )
    assert.is(new Set(chunks.map((chunk) => chunk.id)).size, 1)
    assert.match(text, /data: \[DONE\]\n\n$/)
    const { messages } = (await ada('GET', `/api/sessions/${id}`)).body
    assert.equal(pluck(messages, 'content'), ['I live in Ulm', 'Done.'])
    const call = { server: 'tools', tool: 'echo', state: 'done', arguments: '{"text":"Ulm"}', result: 'You said: Ulm' }
    assert.equal(messages[1].answer.calls, [call])
  }))

test('an answer is kept with the beginnings of the calls that were made for it, failed ones too', () =>
  withTools(
    [[['tools__echo', { text: 'x'.repeat(9_000) }]], [['tools__none', {}]], 'Done.'],
    async ({ ada, allow }) => {
      await allow('echo')
      const { id } = (await ada('POST', '/api/sessions', { persona: 'Mia' })).body
      assert.is((await ada('POST', '/api/chat', ask({ session: id }))).status, 200)
      const { calls } = (await ada('GET', `/api/sessions/${id}`)).body.messages[1].answer
      assert.equal(pluck(calls, 'tool', 'state'), [['echo', 'done']])
      assert.is(calls[0].arguments, `{"text":"${'x'.repeat(1_991)} …`)
      assert.is(calls[0].result, `You said: ${'x'.repeat(4_990)} …`)
    },
  ))

test('a stream tells of each step of a call, and asks its user where the operator wants that', () =>
  withTools(
    [[['tools__echo', { text: 'Ulm\u202e' }]], 'Done.', [['tools__echo', { text: 'Ulm' }]], 'Done.'],
    async ({ ada, bob, allowAsking, url, provider }) => {
      await allowAsking('echo')
      const answer = (as: As, id: string, allow: boolean) => as('POST', `/api/chat/tools/${id}`, { allow })
      const [asked, ...others] = await stepsOf(url, async (id) => {
        assert.is((await answer(bob, id, true)).status, 404, 'another user')
        assert.equal((await answer(ada, id, true)).body, { id, allowed: true })
      })
      assert.equal([asked!.state, asked!.arguments], ['asks', String.raw`{"text":"Ulm\u202e"}`])
      assert.equal(pluck(others, 'state', 'result'), [
        ['runs', undefined],
        ['done', 'You said: Ulm\u202e'],
      ])
      assert.is((await answer(ada, asked!.id, true)).status, 404, 'an answer too many')

      const denied = await stepsOf(url, (id) => answer(ada, id, false))
      assert.equal(pluck(denied, 'state'), ['asks', 'refused'])
      assert.equal(resultsIn(provider.received), ['Error: The user does not allow this call'])
    },
  ))

test('a question ends with its chat, and a chat that cannot ask gets no such tool', () =>
  withTools([[['tools__echo', { text: 'Ulm' }]]], async ({ ada, allowAsking, url, provider, installation }) => {
    await allowAsking('echo')
    const left = new AbortController()
    let open = ''
    const leave = (id: string) => {
      open = id
      left.abort()
    }
    await stepsOf(url, leave, left.signal).catch(() => undefined)
    const { questions } = await installation.app.toolServers()
    await until(() => !questions.has(open))
    assert.is((await ada('POST', `/api/chat/tools/${open}`, { allow: true })).status, 404)
    assert.is(provider.received.length, 1)
    const { body } = await ada('POST', '/api/chat', ask())
    assert.match(body.aichat.warnings.join(), /none is allowed here/)
    assert.is(sent(provider.received[1]!).tools, undefined)
  }))

test('a question without an answer is a no, in time', async () => {
  const questions = createToolQuestions(1)
  assert.is(await questions.ask('1', { user: 'ada' }, undefined), 'The user gave no answer in time')
  assert.not(questions.has('1'))
})

test.whole('the persona has her tools in the dialects, too', () =>
  withTools(
    [[['tools__echo', { text: 'Ulm' }]], 'Done.', [['tools__echo', { text: 'Ulm' }]], 'Done.'],
    async ({ ada, allow, provider }) => {
      await allow('echo')
      const input = { model: 'persona:Mia' }
      const messages = [{ role: 'user', content: 'I live in Ulm' }]
      const chat = await ada('POST', '/v1/chat/completions', { ...input, messages })
      assert.is(chat.body.choices[0].message.content, 'Done.', JSON.stringify(chat.body))
      const response = await ada('POST', '/v1/responses', { ...input, input: 'I live in Ulm', store: false })
      assert.is(response.body.output.at(-1).content[0].text, 'Done.', JSON.stringify(response.body))
      assert.is(provider.received.length, 4)
    },
  ),
)

test('without an allowed tool the chat goes on without, and says so', () =>
  withTools(['Hello.'], async ({ ada, provider }) => {
    const { body } = await ada('POST', '/api/chat', ask())
    assert.is(body.choices[0].message.content, 'Hello.')
    assert.match(body.aichat.warnings.join(), /tools of tools are left out: none is allowed here/)
    assert.is(sent(provider.received[0]!).tools, undefined)
  }))

test('a request with tools of its own gets no others', () =>
  withTools(['Hello.'], async ({ ada, provider, allow }) => {
    await allow('echo')
    const own = { type: 'function', function: { name: 'own', parameters: { type: 'object' } } }
    const { body } = await ada('POST', '/api/chat', ask({ tools: [own] }))
    assert.match(body.aichat.warnings.join(), /brings its own/)
    assert.equal(
      sent(provider.received[0]!).tools!.map((tool) => tool.function.name),
      ['own'],
    )
  }))

test('a call that was not offered is refused, and the client gets the calls that are not ours', () =>
  withTools([[['tools__environment', {}]]], async ({ ada, allow }) => {
    await allow('echo')
    const { body } = await ada('POST', '/api/chat', ask())
    assert.is(body.choices[0].finish_reason, 'tool_calls')
  }))

test('what is asked in rounds by a client of its own is kept as one turn', () =>
  withTools(['Ulm is nice.'], async ({ ada, provider }) => {
    const { id } = (await ada('POST', '/api/sessions', { persona: 'Mia' })).body
    const call = { id: 'call_0', type: 'function', function: { name: 'own', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'I live in Ulm' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_0', content: 'a long result' },
    ]
    const tools = [{ type: 'function', function: { name: 'own', parameters: { type: 'object' } } }]
    await ada('POST', '/api/chat', { persona: 'Mia', session: id, messages, tools, tool_turn: true })
    assert.is((provider.received[0] && JSON.parse(provider.received[0].body).tool_turn) ?? 'absent', 'absent')
    const saved = (await ada('GET', `/api/sessions/${id}`)).body.messages
    assert.equal(pluck(saved, 'content'), ['I live in Ulm', 'Ulm is nice.'])
    const { memories } = (await ada('GET', '/api/personas/Mia/memory')).body
    assert.ok(memories.some(({ content }: { content: string }) => content === 'I live in Ulm'))
  }))

test('the servers of a persona stay here: no package takes them along or brings them', () =>
  withTools(['x'], async ({ ada }) => {
    const persona = (await ada('GET', '/api/personas/Mia')).body
    assert.equal(persona.mcp_servers, ['tools'])
    const exported = (await ada('POST', '/api/personas/Mia/export', {})).body
    assert.is(JSON.stringify(exported).includes('mcp_servers'), false)
    exported.persona.mcp_servers = ['tools']
    const imported = await ada('POST', '/api/personas/import', JSON.parse(resigned(exported)))
    assert.is(imported.status, 201, JSON.stringify(imported.body))
    assert.is((await ada('GET', `/api/personas/${imported.body.persona_id}`)).body.mcp_servers, undefined)
    assert.is((await ada('DELETE', `/api/personas/${imported.body.persona_id}`)).status, 200)
    const { backup_id } = (await ada('POST', '/api/personas/Mia/backup', {})).body
    assert.is((await ada('POST', '/api/personas/Mia/restore', { backup_id })).status, 200)
    assert.equal((await ada('GET', '/api/personas/Mia')).body.mcp_servers, ['tools'])
    const renamed = await ada('PUT', '/api/personas/Mia', { mcp_servers: null })
    assert.is(renamed.body.mcp_servers, undefined)
    assert.is((await ada('PUT', '/api/personas/Mia', { mcp_servers: ['a b'] })).status, 400)
  }))

test.run()
