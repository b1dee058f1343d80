// Some with --all only: many processes.
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { eventually, until } from '../helpers/eventually.ts'
import { pluck } from '../helpers/pluck.ts'
import { openHome } from '../helpers/program/command.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { type Client, openWorkers, textOf, type WorkerService } from './worker-daemon.ts'

const test = suite('a service of two workers')

let service: WorkerService
test.before(async () => {
  service = await openWorkers()
})
test.after(() => service.close())
const withWorkers: WorkerService['use'] = (answer, work) => service.use(answer, work)

const model = 'custom-model'
const messages = [{ role: 'user', content: 'x' }]
const chat = { body: { model, messages } }
const answers: Answer = (_, response) => json(response, 200, completion('Hello'))

test('both answer on one port, say so in their log lines, and status tells what each of them takes', () =>
  withWorkers(answers, async ({ first, second, workers, url, logged }) => {
    assert.is.not(first.pid, second.pid)
    for (const client of [first, second])
      assert.equal((await client.call('POST', '/v1/chat/completions', chat)).body.choices[0].message.content, 'Hello')
    const numbers = (await logged('request', 6)).map(({ worker }) => worker)
    assert.ok(numbers.includes(1) && numbers.includes(2), String(numbers))
    // One that is too busy to tell of itself in time is told without its memory.
    const told = await eventually(async () => {
      const now = await workers()
      return now.every(({ memory_bytes: bytes }) => bytes > 0) ? now : undefined
    })
    assert.equal(pluck(told, 'worker', 'phase', 'restarts'), [
      [1, 'ready', 0],
      [2, 'ready', 0],
    ])
    for (const { memory_bytes: bytes, cpu_seconds: seconds } of told) {
      assert.ok(bytes > 10_000_000)
      assert.ok(seconds > 0)
    }
    assert.is((await fetch(`${url}/ready`)).status, 200)
  }))

test('a revoked key and an ended login are refused by both at once', () =>
  withWorkers(answers, async ({ first, second }) => {
    const made = await first.call('POST', '/api/keys', { body: { name: 'script', scopes: ['chat'] } })
    const { id, secret } = made.body as { id: string; secret: string }
    const login = await second.call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Passw0rd' } })
    const { token } = login.body as { token: string }
    for (const client of [first, second]) {
      assert.is((await client.call('POST', '/v1/chat/completions', { ...chat, token: secret })).status, 200)
      assert.is((await client.call('POST', '/v1/chat/completions', { ...chat, token })).status, 200)
    }
    assert.is((await second.call('DELETE', `/api/keys/${id}`)).status, 200)
    assert.is((await first.call('POST', '/api/auth/logout', { token, body: {} })).status, 200)
    for (const client of [first, second]) {
      assert.is((await client.call('POST', '/v1/chat/completions', { ...chat, token: secret })).status, 401)
      assert.is((await client.call('POST', '/v1/chat/completions', { ...chat, token })).status, 401)
    }
  }))

test.whole('a stream of one worker ends with the key that the other one revokes', () => {
  const open: ServerResponse[] = []
  const begins: Answer = (_, response) => {
    open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(completionEvents(['Hel'])[0]! + completionEvents(['Hel'])[1]!)
  }
  return withWorkers(begins, async ({ first, second }) => {
    const made = await first.call('POST', '/api/keys', { body: { name: 'script', scopes: ['chat'] } })
    const { id, secret } = made.body as { id: string; secret: string }
    const stream = await second.open('POST', '/v1/chat/completions', {
      body: { model, messages, stream: true },
      token: secret,
    })
    assert.is((await first.call('DELETE', `/api/keys/${id}`)).status, 200)
    assert.match(await textOf(stream), /key_revoked|revoked/)
  })
})

test.whole('limits hold for both together: requests a minute, at a time, and of a plugin', () => {
  const waiting: ServerResponse[] = []
  let isHeld = false
  const held: Answer = (_, response) => {
    if (isHeld) waiting.push(response)
    else json(response, 200, completion('Hello'))
  }
  return withWorkers(held, async ({ first, second, url, token }) => {
    const limit = (subject: string, body: object) => first.call('PUT', `/api/limits/${subject}`, { body })
    const ask = (client: Client) => client.call('POST', '/v1/chat/completions', chat)
    const fetched = () =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(chat.body),
      }).then(async (response) => {
        await response.text()
        return response
      })
    // Another process notices a changed limit within a tenth of a second.
    const told = async (isThere: (headers: Record<string, unknown>) => boolean) => {
      for (const client of [first, second]) await until(async () => isThere((await ask(client)).headers))
    }
    assert.is((await limit('user:ada', { rpm: 100_000 })).status, 200)
    await told((headers) => headers['x-ratelimit-limit-requests'] === '100000')
    const before = 100_000 - Number((await ask(first)).headers['x-ratelimit-remaining-requests'])
    assert.is((await limit('user:ada', { rpm: before + 20 })).status, 200)
    // The owner of the counts knows the new limit from its next look on.
    await until(async () => Number((await ask(second)).headers['x-ratelimit-limit-requests'] ?? 0) === before + 20)
    const counted = before + 20 - Number((await ask(second)).headers['x-ratelimit-remaining-requests'] ?? 0)
    const answered = await Promise.all(Array.from({ length: 40 }, fetched))
    const passed = answered.filter(({ status }) => status === 200)
    assert.is(passed.length, before + 20 - counted)
    const refused = answered.find(({ status }) => status === 429)!
    assert.match(refused.headers.get('retry-after')!, /^\d+$/)
    assert.is(refused.headers.get('x-ratelimit-remaining-requests'), '0')
    const listed = (await second.call('GET', '/api/limits')).body
    assert.equal(listed.limits, [{ subject: 'user:ada', rpm: before + 20, budgets: [] }])

    await first.call('DELETE', '/api/limits/user:ada')
    await told((headers) => headers['x-ratelimit-limit-requests'] === undefined)
    assert.is((await limit('plugin:custom', { parallel: 3 })).status, 200)
    // A limit that came later tells by its headers that both, and the owner of the counts, know this one.
    assert.is((await limit('user:ada', { rpm: 50_000 })).status, 200)
    await told((headers) => headers['x-ratelimit-limit-requests'] === '50000')
    isHeld = true
    const running = [fetched(), fetched(), fetched(), fetched(), fetched()]
    const early = await Promise.race(running)
    assert.is(early.status, 429)
    assert.match((await ask(first)).text, /3 requests at a time/)
    // A request that was let through may be on its way to the provider still.
    await until(() => waiting.length >= 3)
    assert.is(waiting.length, 3)
    isHeld = false
    for (const response of waiting) json(response, 200, completion('Hello'))
    const statuses = (await Promise.all(running)).map(({ status }) => status).sort()
    assert.equal(statuses, [200, 200, 200, 429, 429])
    assert.is((await ask(second)).status, 200)
    for (const subject of ['user:ada', 'plugin:custom']) await first.call('DELETE', `/api/limits/${subject}`)
  })
})

test.whole('a plugin that one installs, changes and removes is so for the other', () =>
  withWorkers(answers, async ({ first, second, provider }) => {
    const plugin = pluginAt(provider.url, { id: 'other', model_map: ['other-model'] })
    assert.is((await first.call('POST', '/api/plugins/install', { body: plugin })).status, 201)
    assert.is((await first.call('POST', '/api/plugins/activate/other')).status, 200)
    const asked = { body: { model: 'other-model', messages } }
    assert.is((await second.call('POST', '/v1/chat/completions', asked)).status, 200)
    assert.is((await second.call('GET', '/api/plugins/active/current')).body.id, 'other')
    assert.is((await second.call('POST', '/api/plugins/activate/custom')).status, 200)
    assert.is((await second.call('DELETE', '/api/plugins/other')).status, 200)
    assert.is((await first.call('GET', '/api/plugins/other')).status, 404)
    assert.is((await first.call('GET', '/api/plugins/active/current')).body.id, 'custom')
  }),
)

test.whole('circuits are those of each worker, and both report them; counters are sums', () => {
  let isDown = true
  const fails: Answer = (_, response) =>
    isDown ? json(response, 500, { error: { message: 'down' } }) : json(response, 200, completion('Hello'))
  return withWorkers(fails, async ({ first, second, provider }) => {
    const plugin = pluginAt(provider.url, { id: 'failing', model_map: ['failing-model'], retry: { attempts: 1 } })
    assert.is((await first.call('POST', '/api/plugins/install', { body: plugin })).status, 201)
    assert.is((await first.call('POST', '/api/plugins/activate/failing')).status, 200)
    const chat = { body: { model: 'failing-model', messages } }
    for (let failures = 0; failures < 5; failures++)
      assert.not.equal((await first.call('POST', '/v1/chat/completions', chat)).status, 200)
    const asked = provider.received.length
    await first.call('POST', '/v1/chat/completions', chat)
    assert.is(provider.received.length, asked, 'its circuit is open')
    isDown = false
    assert.is((await second.call('POST', '/v1/chat/completions', chat)).status, 200)
    for (const client of [first, second]) {
      const { plugins } = (await client.call('GET', '/api/plugins/status/all')).body
      const { circuit, last_used_at } = plugins.find(({ id }: { id: string }) => id === 'failing')
      assert.is(circuit, 'open')
      assert.type(last_used_at, 'number')
      const { text } = await client.call('GET', '/metrics')
      assert.match(text, 'aichat_circuits{target="failing",model="failing-model",state="open"} 1')
      assert.match(text, 'aichat_chat_attempts_total{target="failing",outcome="answered",class=""} 1')
      assert.match(text, /aichat_worker_up\{worker="1"\} 1\n[\s\S]*aichat_worker_up\{worker="2"\} 1\n/)
      assert.match(text, /^aichat_users 1$/m)
      assert.match(text, /^aichat_build_info\{.*\} 1$/m)
      assert.match(text, /^process_start_time_seconds \d+$/m)
    }
    assert.is((await first.call('POST', '/api/plugins/activate/custom')).status, 200)
  })
})

test.whole('a response in the background is told, followed and cancelled by the worker that does not make it', () => {
  const open: ServerResponse[] = []
  const [role, hel, lo, end, done] = completionEvents(['Hel', 'lo'])
  const streams: Answer = (_, response) => {
    open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(`${role}${hel}`)
  }
  return withWorkers(streams, async ({ first, second, provider }) => {
    const make = { body: { model, input: 'One', background: true } }
    const made = (await first.call('POST', '/v1/responses', make)).body
    assert.is(made.status, 'queued')
    await until(() => open.length > 0)
    const told = async () => (await second.call('GET', `/v1/responses/${made.id}`)).body.status
    await until(async () => (await told()) !== 'queued')
    assert.is(await told(), 'in_progress')
    const followed = await second.open('GET', `/v1/responses/${made.id}?stream=true`)
    open[0]!.end(`${lo}${end}${done}`)
    assert.match(await textOf(followed), /"delta":"Hel"[\s\S]*"delta":"lo"[\s\S]*response\.completed/)
    const again = (await first.call('POST', '/v1/responses', make)).body
    await until(() => open.length > 1)
    assert.is((await second.call('POST', `/v1/responses/${again.id}/cancel`)).body.status, 'cancelled')
    // Its provider is left at once.
    await until(() => provider.received.at(-1)!.cancelled)
    assert.is((await first.call('GET', `/v1/responses/${again.id}`)).body.status, 'cancelled')
  })
})

test('the owner alone has speech, the reload and the record; a reload holds for both when it is answered', () =>
  withWorkers(answers, async ({ first, second, home, child, logged, requested }) => {
    const host = { headers: { host: 'voices.example' } }
    assert.is((await first.call('GET', '/api/personas', host)).status, 403)
    writeFileSync(join(home, 'config.json'), '{ "api.public_hosts": "voices.example" }')
    assert.equal((await second.call('POST', '/api/service/reload')).body.changed, ['api.public_hosts'])
    for (const client of [first, second]) assert.is((await client.call('GET', '/api/personas', host)).status, 200)
    const record = (await first.call('GET', '/api/service')).body
    assert.equal([record.pid, record.reloads], [child.pid, 1])
    assert.equal(
      record.workers.map(({ pid }: { pid: number }) => pid).sort(),
      [first.pid, second.pid].sort((a, b) => a - b),
    )
    const voices = await first.call('GET', '/api/speech/voices', { headers: { 'x-request-id': 'of-the-owner' } })
    assert.is(voices.status, 200)
    const spoke = await requested('of-the-owner')
    assert.equal([spoke['worker'], spoke['client']], [undefined, '127.0.0.1'])
    writeFileSync(join(home, 'config.json'), '{ "api.public_hosts": "other.example" }')
    child.kill('SIGHUP')
    await logged('settings, secrets and plugins are taken over', 2)
    await until(async () => (await first.call('GET', '/api/service')).body.reloads >= 2)
    for (const client of [first, second]) assert.is((await client.call('GET', '/api/personas', host)).status, 403)
  }))

test('a worker that is asked to stop finishes its answers, and another one takes its place', () => {
  let held: ServerResponse | undefined
  return withWorkers(
    (_, response) => {
      held = response
    },
    async ({ first, logged }) => {
      const answer = first.call('POST', '/v1/chat/completions', chat)
      await until(() => held !== undefined)
      process.kill(first.pid, 'SIGTERM')
      await new Promise((resolve) => setImmediate(resolve))
      json(held!, 200, completion('Hello'))
      assert.is((await answer).status, 200)
      await logged('a worker serves again')
    },
  )
})

test('the service ends when it is asked to, with its workers', async () => {
  assert.is(await service.stop(), 0)
})

test.whole('wrong numbers of workers are refused, and a worker without a service', async () => {
  for (const [words, expected] of [
    [['serve', 'api', '--workers', '0'], /Invalid number of workers "0": give one from 1 to 64, or auto/],
    [['serve', 'api', '--workers', 'two'], /Invalid number of workers "two"/],
    [['serve', 'api', '--workers', '1e1'], /Invalid number of workers/],
    [['serve', 'voxb-tts', '--workers', '2'], /--workers is for the API/],
  ] as const) {
    const { code, stderr } = await runMain(words)
    assert.is(code, 64, stderr)
    assert.match(stderr, expected)
  }
  using home = openHome()
  const { code, stderr } = await home.aichat(['__worker', '1'])
  assert.is(code, 64)
  assert.match(stderr, 'aichat serve --workers')
})

test.run()
