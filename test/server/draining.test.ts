// Some with --all only: a killed process.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { type Answered, removeHome, type SpawnedDaemon, serveHere, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a service that stops')

test.whole('while the last answers go out it says that it stops, refuses new work, and then ends with 0', async () => {
  let streaming: ServerResponse | undefined
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const provider = await openStandIn((_, response) => {
    streaming = response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event('Hel'))
    arrived()
  })
  const home = temporaryFolder()
  const daemon = await spawnDaemon({ CUSTOM_API_KEY: 'sk-test-123456' }, home)
  const ended = once(daemon.child, 'exit')
  try {
    const login = await daemon.call('POST', '/api/auth/register', { body: { username: 'ada', password: 'Passw0rd' } })
    const { token } = login.body as { token: string }
    const plugin = pluginAt(provider.url)
    assert.is((await daemon.call('POST', '/api/plugins/install', { token, body: plugin })).status, 201)
    assert.is((await daemon.call('POST', '/api/plugins/activate/custom', { token })).status, 200)
    assert.is((await daemon.call('GET', '/ready')).status, 200)
    const body = { stream: true, messages: [{ role: 'user', content: 'x' }] }
    const chat = daemon.call('POST', '/api/chat', { token, body })
    chat.catch(() => {})
    await arrival

    daemon.child.kill('SIGTERM')
    let ready = await anew(daemon.url, 'GET', '/ready')
    while (ready.status === 200) ready = await anew(daemon.url, 'GET', '/ready')
    assert.is(ready.status, 503)
    assert.equal(JSON.parse(ready.text), { status: 'draining' })
    assert.is(ready.headers.connection, 'close')
    assert.is((await anew(daemon.url, 'GET', '/health')).status, 200)
    assert.is((await anew(daemon.url, 'GET', '/metrics')).status, 200)
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/plugins'],
      ['GET', '/nowhere'],
      ['POST', '/api/chat'],
      ['POST', '/v1/chat/completions'],
    ] as const) {
      const refused = await anew(daemon.url, method, path)
      assert.is(refused.status, 503, path)
      assert.is(refused.headers.connection, 'close')
      assert.match(refused.headers['retry-after']!, /^\d+$/)
      assert.match(refused.text, /is stopping/)
    }

    streaming!.end(`${event('lo', 'stop')}data: [DONE]\n\n`)
    const answer = await chat
    assert.is(answer.status, 200)
    assert.match(String(answer.body), /"Hel"[\s\S]*"lo"[\s\S]*\[DONE\]/)
    const [code] = (await ended) as [number | null]
    assert.is(code, 0)
    assert.is(await fetch(`${daemon.url}/ready`).catch(() => 'nobody listens'), 'nobody listens')
  } finally {
    daemon.child.kill('SIGKILL')
    await provider.close()
    removeHome(daemon)
  }
})

test('with nothing in flight it ends at once, also beside connections that are kept open', async () => {
  const daemon = await serveHere()
  try {
    for (let round = 0; round < 3; round++) assert.is((await daemon.call('GET', '/health')).status, 200)
    assert.is(await daemon.stop(), 0)
  } finally {
    removeHome(daemon)
  }
})

test.whole('at the end of its time a stream gets a last error event, and the database is whole', async () => {
  await withEndlessChat({ AICHAT_DRAIN_SECONDS: '0' }, async ({ daemon, chat, ended }) => {
    daemon.child.kill('SIGTERM')
    const answer = await chat
    assert.is(answer.status, 200)
    assert.match(String(answer.body), /"Hel"[\s\S]*event: error\ndata: .*This server is stopping/)
    assert.not.match(String(answer.body), 'DONE')
    assert.equal(await ended, [0, null])
    assert.match(daemon.output.stderr, /the time for answers in flight is over.*"answers":1/)
    assert.not.ok(existsSync(join(daemon.home, 'aichat.db-wal')), 'the write-ahead log is in the database')
    assert.not.ok(existsSync(join(daemon.home, 'services', `${daemon.child.pid}.json`)))
  })
})

for (const second of ['SIGTERM', 'SIGINT'] as const)
  test.whole(`a second signal, ${second}, ends it at once`, () =>
    withEndlessChat({}, async ({ daemon, chat, ended }) => {
      daemon.child.kill('SIGTERM')
      while ((await anew(daemon.url, 'GET', '/ready')).status === 200);
      daemon.child.kill(second)
      assert.equal(await ended, [null, second], 'a shell sees 128 and the number of the signal')
      const cut = await chat.catch(() => undefined)
      assert.not.match(String(cut?.body), /DONE|event: error/)
    }),
  )

test.run()

interface EndlessChat {
  readonly daemon: SpawnedDaemon
  /** A stream that the provider stalls for good; its first word has come. */
  readonly chat: Promise<Pick<Answered, 'status' | 'body'>>
  readonly ended: Promise<unknown>
}

async function withEndlessChat(
  environment: Record<string, string>,
  work: (endless: EndlessChat) => Promise<void>,
): Promise<void> {
  const provider = await openStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('Hel'))
  })
  const daemon = await spawnDaemon({ CUSTOM_API_KEY: 'sk-test-123456', ...environment })
  const ended = once(daemon.child, 'close')
  try {
    const login = await daemon.call('POST', '/api/auth/register', { body: { username: 'ada', password: 'Passw0rd' } })
    const { token } = login.body as { token: string }
    await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
    assert.is((await daemon.call('POST', '/api/plugins/activate/custom', { token })).status, 200)
    const body = { stream: true, messages: [{ role: 'user', content: 'x' }] }
    const response = await fetch(`${daemon.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"Hel"')) text += (await reader.read()).value
    const read = async () => {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value
      return { status: response.status, body: text }
    }
    const chat = read()
    chat.catch(() => {})
    await work({ daemon, chat, ended })
  } finally {
    daemon.child.kill('SIGKILL')
    await provider.close()
    removeHome(daemon)
  }
}

/** An exchange on a connection of its own: one that is kept open may end just as it is used again. */
async function anew(url: string, method: string, path: string) {
  const asked = request(`${url}${path}`, { method, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  for await (const piece of response) text += piece
  return { status: response.statusCode, headers: response.headers, text }
}

function event(content: string, finish: string | null = null): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'custom-model', choices })}\n\n`
}
