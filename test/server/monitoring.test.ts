// Some with --all only: a whole sample.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { createLineWriter } from '../../src/server/line-writer.ts'
import { createLog, type LogFormat } from '../../src/server/log.ts'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { goodPassword, type ServingDaemon, serveHere, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what a service tells of itself')
const shipped = (name: string) => fileURLToPath(new URL(`./man/monitoring/${name}`, import.meta.resolve('#package')))

const messages = [{ role: 'user', content: 'Hi' }]

test('a line for each answer names route, status, client, user, plugin, model and attempts, as JSON from the start on', () =>
  withChats(plain, {}, async (daemon, token, user) => {
    const headers = { 'x-request-id': 'of-the-test' }
    await daemon.call('POST', '/api/chat', { token, headers, body: { model: 'custom-model', messages } })
    await daemon.call('GET', '/api/users/someone-personal', { token })
    await daemon.call('GET', '/nowhere/personal')
    await daemon.call('GET', '/health')
    const lines = await linesOf(daemon)
    assert.match(lines[0]!.msg, /^aichat \S+ serves the API on http:/)
    const { ts, duration_ms, bytes, ...line } = lines.find(({ request_id }) => request_id === 'of-the-test')!
    assert.ok(Date.parse(ts) > 0 && duration_ms >= 0 && bytes > 200)
    assert.equal(line, {
      ...{ level: 'info', msg: 'request', request_id: 'of-the-test', method: 'POST', route: '/api/chat', status: 200 },
      ...{ client: '127.0.0.1', user, server: 'api', plugin: 'custom', model: 'custom-model', attempts: 1 },
    })
    const routes = lines.map(({ route, status }) => `${route} ${status}`)
    assert.ok(routes.includes('/api/users/:id 404') && routes.includes('unknown 404'))
    assert.not.ok(routes.some((route) => route.startsWith('/health')))
    assert.not.match(daemon.output.stderr, /personal/)
  }))

test.whole('a service that nobody asks sleeps; only a reader of its metrics has it watch its event loop', async () => {
  if (process.platform !== 'linux') return
  const home = temporaryFolder()
  await using daemon = await spawnDaemon({}, home)
  /** How often its main thread has gone to sleep. */
  const sleeps = () =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8'))![1])
  const inQuarter = async () => {
    const before = sleeps()
    await sleep(250)
    return sleeps() - before
  }
  // The work after a start ends first.
  while ((await inQuarter()) > 3);
  assert.is((await daemon.call('GET', '/metrics')).status, 200)
  while ((await inQuarter()) < 6);
  assert.match(await metricsOf(daemon), /^nodejs_eventloop_lag_p50_seconds 0\.0/m)
})

test('behind a named proxy the line names the client', () =>
  withChats(plain, { TRUST_PROXY: 'loopback' }, async (daemon) => {
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    await daemon.call('POST', '/api/auth/login', { headers, body: { username: 'ada', password: 'wrong' } })
    const lines = await linesOf(daemon)
    const refused = lines.find(({ status }) => status === 401)!
    assert.is(refused.client, '203.0.113.9')
  }))

test('chats are counted by plugin, model and outcome, with their tokens, times, fallbacks and circuits', () =>
  withChats(plain, {}, async (daemon, token, _user, url) => {
    const down = pluginAt(`${url}/down`, { id: 'down', fallback: ['custom'], retry: { attempts: 1 } })
    await daemon.call('POST', '/api/plugins/install', { token, body: down })
    const chat = (more: object) => daemon.call('POST', '/api/chat', { token, body: { messages, ...more } })
    await chat({ model: 'custom-model' })
    await chat({ model: 'custom-model', stream: true })
    await chat({ plugin: 'down' })
    for (let at = 0; at < 5; at++) await chat({ plugin: 'down', fallback: false })
    const text = await metricsOf(daemon)
    has(text, 'aichat_chats_total{plugin="custom",model="custom-model",outcome="answered"} 3')
    has(text, 'aichat_chats_total{plugin="down",model="custom-model",outcome="failed"} 5')
    has(text, 'aichat_chat_fallbacks_total{from="down",to="custom"} 1')
    has(text, 'aichat_circuits{target="down",model="custom-model",state="open"} 1')
    const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="custom",gen_ai_request_model="custom-model"'
    has(text, `gen_ai_client_inference_duration_seconds_count{${labels}} 3`)
    has(text, `gen_ai_client_inference_time_to_first_chunk_seconds_count{${labels}} 1`)
    has(text, 'aichat_users 1')
    has(text, 'aichat_http_requests_in_flight{server="api"} 1')
    assert.match(text, /^aichat_build_info\{version="[\d.]+\S*",node="v\d+\S*"\} 1$/m)
    assert.match(text, /^process_resident_memory_bytes \d/m)
    assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m)
    assert.match(text, /^aichat_storage_bytes\{file="database"\} [1-9]\d+/m)
  }))

test('imports are counted by format, and those that fail', () =>
  withChats(plain, {}, async (daemon, token) => {
    const send = (body: string) =>
      fetch(`${daemon.url}/api/personas/import?model=custom-model`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      })
    const card = { spec: 'chara_card_v2', spec_version: '2.0', data: { name: 'Mia', description: 'kind' } }
    assert.is((await send(JSON.stringify(card))).status, 201)
    assert.is((await send('{"no":"package"}')).status, 400)
    const text = await metricsOf(daemon)
    has(text, 'aichat_imports_total{format="card",outcome="answered"} 1')
    has(text, 'aichat_imports_total{format="unknown",outcome="failed"} 1')
    has(text, 'aichat_personas 1')
  }))

test.whole('names of models from clients make a bounded number of series', () =>
  withChats(plain, { AICHAT_LOG_LEVEL: 'error' }, async (daemon, token) => {
    const asked = Array.from({ length: 260 }, (_, at) => `invented-${at}`)
    for (const model of asked) await daemon.call('POST', '/api/chat', { token, body: { model, messages } })
    await daemon.call('POST', '/api/chat', { token, body: { model: 'custom-model', messages } })
    for (const model of ['fail-1', 'fail-2']) {
      const body = { model, messages, fallback: false }
      assert.is((await daemon.call('POST', '/api/chat', { token, body })).status, 400)
    }
    const text = await metricsOf(daemon)
    has(text, 'aichat_chats_total{plugin="custom",model="other",outcome="answered"} 60')
    has(text, 'aichat_chats_total{plugin="custom",model="other",outcome="failed"} 2')
    has(text, 'aichat_chats_total{plugin="custom",model="custom-model",outcome="answered"} 1')
    assert.is(new Set(text.match(/model="invented-\d+"/g)).size, 200)
  }),
)

test.whole('no prompt, password, key or token is in a log line, a metric or an error, wherever it was put', () =>
  withChats(plain, { AICHAT_LOG_LEVEL: 'debug' }, async (daemon, token) => {
    let number = 0
    const canary = () => `CaNaRy${++number}x`
    const key = () => `sk-proj-${canary()}AbCdEf0123456789AbCdEf0123`
    const told: string[] = []
    const call = async (...given: Parameters<ServingDaemon['call']>) => {
      const answer = await daemon.call(...given)
      if (answer.status >= 400) told.push(JSON.stringify(answer.body))
      return answer
    }
    const prompt = (content: string) => [{ role: 'user', content }]
    const chat = { model: 'custom-model', messages: prompt(canary()) }
    await call('POST', '/api/chat', { token, body: chat })
    await call('POST', `/v1/chat/completions?key=${canary()}`, { token, body: chat })
    await call('POST', '/v1/chat/completions', { token: canary(), body: chat })
    await call('POST', '/v1/messages', { headers: { 'x-api-key': key() }, body: { ...chat, max_tokens: 9 } })
    await call('POST', '/api/chat', { token, body: { ...chat, model: key() } })
    await call('POST', '/api/chat', { token, body: { ...chat, model: `fail-${key()}`, fallback: false } })
    await call('POST', '/api/auth/login', { body: { username: canary(), password: canary() } })
    await call('GET', '/api/plugins', {
      token,
      headers: { 'x-request-id': key(), cookie: `a=${canary()}`, traceparent: canary(), 'user-agent': canary() },
    })
    await call('GET', `/${canary()}?${canary()}`)
    const { body } = await call('POST', '/api/personas', {
      token,
      body: { name: canary(), model: 'custom-model', system_prompt: canary(), memory_settings: { enabled: true } },
    })
    await call('POST', `/api/personas/${body.id}/memory`, { token, body: { content: canary() } })
    await call('POST', `/api/personas/${body.id}/memory/search`, { token, body: { query: canary() } })
    await call('POST', '/api/chat', { token, body: { persona: body.id, messages: prompt(canary()) } })
    await call('POST', '/api/speech', { token, body: { input: canary(), voice: canary() } })
    await call('POST', '/v1/embeddings', { token, body: { input: canary(), model: 'none' } })
    const text = await metricsOf(daemon)
    await daemon.stop()
    const { stderr, stdout } = daemon.output
    assert.ok(number > 20 && stderr.split('"msg":"request"').length > 15)
    for (const [where, all] of Object.entries({ stderr, stdout, metrics: text }))
      assert.equal(
        all.split('\n').filter((line) => line.includes('CaNaRy')),
        [],
        where,
      )
    // An error may repeat a name from its caller, but nothing in the shape of a key, no text, and no password.
    assert.not.match(told.join('\n'), /sk-proj-CaNaRy/)
  }),
)

test.whole('every metric that the dashboard and the alerts name is there, and promtool reads them', () =>
  withChats(plain, {}, async (daemon, token) => {
    await daemon.call('POST', '/api/chat', { token, body: { model: 'custom-model', messages, stream: true } })
    const text = await metricsOf(daemon)
    const dashboard = JSON.parse(readFileSync(shipped('grafana-dashboard.json'), 'utf8'))
    const rules = readFileSync(shipped('prometheus-rules.yml'), 'utf8')
    const expressions: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    )
    assert.ok(expressions.length > 30)
    const types = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name))
    const named = `${expressions.join('\n')}\n${rules.replace(/^#.*$/gm, '')}`.matchAll(
      /\b(?:aichat|gen_ai_client|process|nodejs)_[a-z0-9_]+\b/g,
    )
    const names = new Set([...named].map(([name]) => name.replace(/_bucket$/, '')))
    assert.ok(names.size > 25)
    assert.equal(
      [...names].filter((name) => !types.has(name)),
      [],
    )
    if (!haveProgram('promtool', 'prometheus')) return
    const folder = temporaryFolder()
    const file = join(folder, 'dashboard.yml')
    const rule = (expr: string, at: number) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    })
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: expressions.map(rule) }] }))
    for (const path of [file, shipped('prometheus-rules.yml')]) {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' })
      assert.is(status, 0, stdout + stderr)
    }
    const read = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    const complaints = (read.stdout + read.stderr).split('\n').filter((line) => /aichat_|gen_ai_|error/.test(line))
    assert.equal(complaints, [])
  }),
)

for (const format of ['json', 'journal'] as const satisfies readonly LogFormat[])
  test.whole(
    `the filter of fail2ban finds the failed logins in lines written as ${format}, and nothing that clients forge`,
    async () => {
      if (!haveProgram('fail2ban-regex', 'fail2ban')) return
      let written = ''
      const lines = createLineWriter((text) => {
        written += text
      })
      const log = createLog('info', format, lines)
      const request = (route: string, status: number, client: string, more: object = {}) =>
        log.info('request', {
          ...{ request_id: 'a-1', method: 'POST', route, status, duration_ms: 3, bytes: 400, client, server: 'api' },
          ...more,
        })
      request('/api/auth/login', 401, '203.0.113.1')
      request('/api/auth/login', 429, '2001:db8::7')
      request('/api/auth/login', 200, '203.0.113.2')
      request('/api/plugins', 401, '203.0.113.3')
      request('/api/chat', 500, '203.0.113.4', { model: 'route=/api/auth/login status=401 client=203.0.113.5 ' })
      log.warn('failed', {
        reason: 'request request_id=a method=POST route=/api/auth/login status=401 client=203.0.113.6',
      })
      lines.flush()
      // A journal gives its lines a time.
      const dated = format === 'json' ? written : written.replace(/^<\d>/gm, 'Nov 23 04:00:00 host aichat[1]: ')
      const found = (mode: string) => {
        const filter = `${shipped('fail2ban-filter.conf')}[mode=${mode}]`
        const { stdout } = spawnSync('fail2ban-regex', ['-o', 'ip', dated, filter], { encoding: 'utf8' })
        return stdout.trim().split('\n')
      }
      assert.equal(found('normal'), ['203.0.113.1', '2001:db8::7'])
      assert.equal(found('aggressive'), ['203.0.113.1', '2001:db8::7', '203.0.113.3'])
    },
  )

test.run()

function plain(request: Parameters<Answer>[0], response: Parameters<Answer>[1]): void {
  if (request.url.startsWith('/down')) return json(response, 500, { error: { message: 'down' } })
  const { stream, model } = JSON.parse(request.body)
  if (model.startsWith('fail-')) return json(response, 400, { error: { message: 'no such model' } })
  if (!stream) return json(response, 200, completion('Hello'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Hel', 'lo']).join(''))
}

function has(text: string, line: string): void {
  const name = line.split('{')[0]!
  assert.ok(
    text.split('\n').includes(line),
    `${line}\nis not in\n${text
      .split('\n')
      .filter((one) => one.startsWith(name))
      .join('\n')}`,
  )
}

async function metricsOf({ url }: Pick<ServingDaemon, 'url'>): Promise<string> {
  return (await fetch(`${url}/metrics`)).text()
}

/** Its log once it has stopped. */
// biome-ignore lint/suspicious/noExplicitAny: lines of every shape
async function linesOf(daemon: ServingDaemon): Promise<readonly any[]> {
  await daemon.stop()
  return daemon.output.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** A daemon with an administrator and an active plugin. */
async function withChats(
  answer: Answer,
  environment: Record<string, string>,
  work: (daemon: ServingDaemon, token: string, user: string, url: string) => Promise<void>,
): Promise<void> {
  await using provider = await openStandIn(answer)
  await using daemon = await serveHere({ CUSTOM_API_KEY: 'sk-test-123456', ...environment })
  const { body } = await daemon.call('POST', '/api/auth/register', {
    body: { username: 'ada', password: goodPassword },
  })
  const { token, user } = body
  await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
  await daemon.call('POST', '/api/plugins/activate/custom', { token })
  await work(daemon, token, user.id, provider.url)
}
