// Some with --all only: a whole sample.
import { request } from 'node:http'
import * as assert from 'uvu/assert'
import { type ClientKind, clientKinds, openHttpClient } from '../helpers/mcp/clients.ts'
import { callTool, failing, readingTools, toolNames, tourTools } from '../helpers/mcp/tool-tour.ts'
import { pluck } from '../helpers/pluck.ts'
import { suite } from '../helpers/suite.ts'
import { type KeyDaemon, type TestUser, withKeyDaemon } from './key-daemon.ts'

const test = suite("a persona's memory over HTTP")

const mia = { name: 'Mia', model: 'm-one', system_prompt: 'You are Mia.' }
const accept = { accept: 'application/json, text/event-stream' }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'curl', version: '8' } },
}
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

async function personaOf({ call }: KeyDaemon, user: TestUser, persona: object = mia): Promise<string> {
  const { status, body } = await call('POST', '/api/personas', { token: user.token, body: persona })
  assert.is(status, 201)
  return body.id as string
}

/** Posts a message as curl does. */
function post(daemon: KeyDaemon, path: string, body: unknown, token?: string, headers: Record<string, string> = {}) {
  return daemon.call('POST', path, { token, body, headers: { ...accept, ...headers } })
}

/** The message in an answer, which may come as one event. */
function messageIn(body: unknown) {
  return typeof body === 'string' ? JSON.parse(/^data: (.*)$/m.exec(body)![1]!) : body
}

for (const kind of clientKinds)
  test(`the SDK ${kind} lists and calls every tool, and its name stays with what it adds`, () =>
    withKeyDaemon(async (daemon) => {
      await personaOf(daemon, daemon.bob)
      const client = await openHttpClient(kind, `${daemon.url}/mcp/Mia`, daemon.bob.token)
      await tourTools(client, 'mcp:test-client')
      await client.close()
    }))

test('the only persona needs no name, and several do', () =>
  withKeyDaemon(async (daemon) => {
    const { bob, url } = daemon
    const nobody = await post(daemon, '/mcp', listTools, bob.token)
    assert.equal([nobody.status, nobody.body.error.code], [400, -32_600])
    assert.match(nobody.body.error.message, /Use \/mcp\/PERSONA/)
    await personaOf(daemon, bob)
    const client = await openHttpClient('v2', `${url}/mcp`, bob.token)
    assert.is((await callTool(client, 'persona_state')).name, 'Mia')
    await client.close()
    await personaOf(daemon, bob, { name: 'Leo', model: 'm-one' })
    assert.is((await post(daemon, '/mcp', listTools, bob.token)).status, 400)
  }))

test('a key for one persona has her at /mcp, by the scope `memory` alone, and nothing else', () =>
  withKeyDaemon(async (daemon) => {
    const { bob, key, url } = daemon
    await personaOf(daemon, bob)
    await personaOf(daemon, bob, { name: 'Leo', model: 'm-one' })
    const { secret } = await key(bob, { scopes: ['memory'], personas: ['Mia'] })
    const client = await openHttpClient('v2', `${url}/mcp`, secret)
    assert.equal(pluck((await client.listTools()).tools, 'name'), toolNames)
    const { memory } = await callTool(client, 'memory_add', { content: 'The boat is called Nele' })
    assert.is((await callTool(client, 'persona_state')).name, 'Mia')
    await client.close()
    const other = await post(daemon, '/mcp/Leo', listTools, secret)
    assert.equal([other.status, other.body.error.data.code], [403, 'key_scope'])

    const ofLeo = await openHttpClient('v2', `${url}/mcp/Leo`, bob.token)
    assert.match(await failing(ofLeo, 'memory_forget', { id: memory.id }), /not found/)
    await ofLeo.close()
    const { secret: chats } = await key(bob, { scopes: ['chat', 'personas'] })
    const missing = await post(daemon, '/mcp/Mia', listTools, chats)
    assert.equal(
      [missing.status, missing.body.error.message.startsWith('The API key lacks the scope memory')],
      [403, true],
    )
    assert.match(missing.headers.get('www-authenticate')!, /insufficient_scope/)
    const { secret: free } = await key(bob, { scopes: ['memory'] })
    assert.is((await post(daemon, '/mcp', listTools, free)).status, 400)
    assert.is((await post(daemon, '/mcp/Mia', listTools, free)).status, 200)
  }))

test("another user's persona is refused as everywhere, and so is one that does not exist", () =>
  withKeyDaemon(async (daemon) => {
    const id = await personaOf(daemon, daemon.bob)
    const status = async (path: string) => (await post(daemon, path, listTools, daemon.ada.token)).status
    assert.equal([await status(`/mcp/${id}`), await status('/mcp/Mia'), await status('/mcp/nope')], [403, 404, 404])
  }))

test('read-only, there are the tools that change nothing', () =>
  withKeyDaemon(async (daemon) => {
    await personaOf(daemon, daemon.bob)
    const { token } = daemon.bob
    for (const kind of ['v1', 'v2 in 2026'] as const satisfies readonly ClientKind[]) {
      const client = await openHttpClient(kind, `${daemon.url}/mcp/Mia?read_only=1`, token)
      assert.equal(pluck((await client.listTools()).tools, 'name'), readingTools)
      const refused = await client.callTool({ name: 'memory_add', arguments: { content: 'x' } }).catch(String)
      assert.match(JSON.stringify(refused), /memory_add not found/)
      await client.close()
    }
    for (const query of ['readonly=1', 'read_only=maybe', 'persona=Mia'])
      assert.is((await post(daemon, `/mcp/Mia?${query}`, listTools, token)).status, 400, query)
    const memory = await daemon.call('GET', '/api/personas/Mia/memory', { token })
    assert.is(memory.body.total, 0)
  }))

test('a foreign Origin, a wrong Host and a wrong token are refused', () =>
  withKeyDaemon(async (daemon) => {
    await personaOf(daemon, daemon.bob)
    const { token } = daemon.bob
    const foreign = await post(daemon, '/mcp/Mia', listTools, token, { origin: 'https://evil.example' })
    assert.equal([foreign.status, foreign.body.jsonrpc, foreign.body.error.data.code], [403, '2.0', 'forbidden'])
    assert.is((await post(daemon, '/mcp/Mia', listTools, token, { origin: daemon.url })).status, 200)
    assert.is(await statusWithHost(daemon.url, token, 'evil.example'), 403)
    assert.is(await statusWithHost(daemon.url, token, 'localhost'), 200)
    for (const wrong of [undefined, 'nonsense', `${token}x`, 'aichat-0123456789']) {
      const answer = await post(daemon, '/mcp/Mia', listTools, wrong)
      assert.is(answer.status, 401)
      assert.match(answer.headers.get('www-authenticate')!, /^Bearer /)
    }
  }))

test('raw JSON-RPC: versions, methods and bodies', () =>
  withKeyDaemon(async (daemon) => {
    await personaOf(daemon, daemon.bob)
    const { token } = daemon.bob
    const ask = (body: unknown, headers: Record<string, string> = {}) => post(daemon, '/mcp/Mia', body, token, headers)
    const first = await ask(initialize)
    assert.is(messageIn(first.body).result.serverInfo.name, 'aichat')
    const session = { 'mcp-session-id': first.headers.get('mcp-session-id')! }
    const content = { content: 'Tea at four' }
    const addition = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'memory_add', arguments: content } }
    assert.is(messageIn((await ask(addition, session)).body).result.structuredContent.memory.source, 'mcp:curl')
    const nameless = await ask(addition, { 'mcp-session-id': 'none of ours' })
    assert.is(messageIn(nameless.body).result.structuredContent.memory.source, 'mcp')

    for (const version of ['1999-01-01', '2026-07-28', 'x'])
      assert.is((await ask(listTools, { 'mcp-protocol-version': version })).status, 400, version)
    assert.is((await ask(listTools, { 'mcp-protocol-version': '2025-06-18' })).status, 200)
    assert.is((await ask(listTools, { accept: 'text/html' })).status, 406)
    assert.is((await ask(listTools, { 'content-type': 'text/plain' })).status, 415)
    for (const body of ['{', '', `${'['.repeat(100_000)}`]) {
      const { status, body: answer } = await ask(body)
      assert.equal([status, answer.error.code], [400, -32_700], body.slice(0, 9))
    }
    assert.is((await ask('x'.repeat(1024 * 1024 + 1))).status, 413)
    assert.is((await ask([...Array(21)].map(() => listTools))).status, 400)
    assert.is(messageIn((await ask({ ...listTools, method: 'no/such' })).body).error.code, -32_601)
    assert.is((await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await daemon.call(method, '/mcp/Mia', { token })
      assert.equal([status, headers.get('allow')], [405, 'POST'], method)
    }
  }))

test('a subscription, which nothing would ever be sent on, is refused', () =>
  withKeyDaemon(async (daemon) => {
    await personaOf(daemon, daemon.bob)
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '8' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const method = 'subscriptions/listen'
    const params = { _meta: meta, notifications: { toolsListChanged: true } }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const { status, body: answer } = await post(daemon, '/mcp/Mia', body, daemon.bob.token, headers)
    assert.is(status, 200)
    assert.match(messageIn(answer).error.message, /Subscription limit reached/)
  }))

test.whole('long memories come whole, as many as fit into an answer', () =>
  withKeyDaemon(async (daemon) => {
    await personaOf(daemon, daemon.bob)
    const { token } = daemon.bob
    const memories = [...Array(50).keys()].map((id) => ({ content: `Paper ${id}: ${'long words '.repeat(1_700)}` }))
    const path = '/api/personas/Mia/memory/batch'
    assert.is((await daemon.call('POST', path, { token, body: { memories } })).status, 201)
    const client = await openHttpClient('v2', `${daemon.url}/mcp/Mia`, token)
    const found = await callTool(client, 'memory_search', { query: 'paper with long words', limit: 50 })
    assert.equal([found.memories.length + found.left_out, found.memories.length], [50, 2])
    assert.ok(found.memories.every(({ content }: { content: string }) => content.length > 17_000))
    const ids = new Set<string>()
    let cursor: string | undefined
    do {
      const page = await callTool(client, 'memory_list', { limit: 50, ...(cursor !== undefined && { cursor }) })
      for (const { id } of page.memories) ids.add(id)
      cursor = page.next_cursor
    } while (cursor !== undefined)
    assert.is(ids.size, 50)
    await client.close()
  }),
)

test.run()

/** The status of a request with a Host of its own, which `fetch` does not send. */
function statusWithHost(url: string, token: string, host: string): Promise<number> {
  const { hostname, port } = new URL(url)
  const headers = { ...accept, host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: '/mcp/Mia', method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(listTools))
  })
}
