// With --all only: a fault of PostgreSQL.

import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { ownPostgresSuite } from '../helpers/postgres/suite.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { type Client, type ClientAnswer, textOf, type WorkerDaemon, withWorkers } from './worker-daemon.ts'

const { test, server, run } = ownPostgresSuite('a service of two workers on PostgreSQL')

/** What all processes on one database share. */
const secret = 'a secret of the tests that all processes share'

const model = 'custom-model'
const messages = [{ role: 'user', content: 'x' }]
const chat = { body: { model, messages } }
const [role, hel, lo, end, done] = completionEvents(['Hel', 'lo'])

/** Answers a whole chat at once, and keeps a stream open after its first word. */
function streamsInto(open: ServerResponse[]): Answer {
  return (request, response) => {
    if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello'))
    open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(`${role}${hel}`)
  }
}

const ask = (client: Client, token?: string) =>
  client.call('POST', '/v1/chat/completions', { ...chat, ...(token !== undefined && { token }) })

test('what one ends or changes is so for the other; a database that crashes under load costs no chat of a checked login', () => {
  const open: ServerResponse[] = []
  return onPostgres(streamsInto(open), async ({ first, second, provider, workers, call, token: ownToken }) => {
    const made = await first.call('POST', '/api/keys', { body: { name: 'script', scopes: ['chat'] } })
    const { id, secret } = made.body as { id: string; secret: string }
    const login = await second.call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Passw0rd' } })
    const { token } = login.body as { token: string }
    for (const client of [first, second])
      for (const each of [secret, token]) assert.is((await ask(client, each)).status, 200)
    const stream = await second.open('POST', '/v1/chat/completions', {
      body: { model, messages, stream: true },
      token: secret,
    })
    assert.is((await first.call('DELETE', `/api/keys/${id}`)).status, 200)
    assert.match(await textOf(stream), /key_revoked|revoked/)
    assert.is((await first.call('POST', '/api/auth/logout', { token, body: {} })).status, 200)
    for (const each of [secret, token]) {
      await until(
        () => ask(second, each),
        ({ status }) => status === 401,
      )
      for (const client of [first, second]) assert.is((await ask(client, each)).status, 401)
    }

    const plugin = pluginAt(provider.url, { id: 'other', model_map: ['other-model'] })
    assert.is((await first.call('POST', '/api/plugins/install', { body: plugin })).status, 201)
    assert.is((await first.call('POST', '/api/plugins/activate/other')).status, 200)
    const current = () => second.call('GET', '/api/plugins/active/current')
    await until(current, ({ body }) => body?.id === 'other')
    const asked = { body: { model: 'other-model', messages } }
    assert.is((await second.call('POST', '/v1/chat/completions', asked)).status, 200)
    assert.is((await second.call('POST', '/api/plugins/activate/custom')).status, 200)
    assert.is((await second.call('DELETE', '/api/plugins/other')).status, 200)
    await until(
      () => first.call('GET', '/api/plugins/other'),
      ({ status }) => status === 404,
    )

    assert.is((await first.call('PUT', '/api/limits/user:ada', { body: { rpm: 1000 } })).status, 200)
    const remaining = (answer: ClientAnswer) => Number(answer.headers['x-ratelimit-remaining-requests'])
    for (const client of [first, second])
      await until(
        () => ask(client),
        ({ headers }) => headers['x-ratelimit-limit-requests'] === '1000',
      )
    const before = remaining(await ask(first))
    assert.is(remaining(await ask(second)), before - 1)
    assert.is(remaining(await ask(first)), before - 2)
    assert.is((await first.call('DELETE', '/api/limits/user:ada')).status, 200)
    for (const client of [first, second])
      await until(
        () => ask(client),
        ({ headers }) => headers['x-ratelimit-limit-requests'] === undefined,
      )

    const load = { isOn: true, statuses: new Set<number>() }
    const chatting = [first, second].map(async (client) => {
      while (load.isOn) load.statuses.add((await ask(client)).status)
    })
    await server().stop('immediate')
    while ((await call('GET', '/health')).body.database.reachable);
    assert.is((await call('POST', '/api/sessions', { token: ownToken, body: { name: 'away' } })).status, 503)
    await server().start()
    for (const [name, client] of Object.entries({ first, second }))
      await until(
        () => client.call('POST', '/api/sessions', { body: { name } }),
        ({ status }) => status === 201,
      )
    load.isOn = false
    await Promise.all(chatting)
    assert.equal([...load.statuses], [200])
    assert.equal(pluck(await workers(), 'phase', 'restarts'), [
      ['ready', 0],
      ['ready', 0],
    ])
  })
})

test('a killed worker cuts its own stream alone, another one takes its place, and all end in order', () => {
  const open: ServerResponse[] = []
  return onPostgres(streamsInto(open), async ({ first, second, logged, workers, stop }, database) => {
    const streamed = { body: { model, messages, stream: true } }
    const [lost, kept] = await Promise.all(
      [first, second].map((client) => client.open('POST', '/v1/chat/completions', streamed)),
    )
    const cut = textOf(lost!).then(
      () => 'whole',
      () => 'cut',
    )
    process.kill(first.pid, 'SIGKILL')
    assert.is(await cut, 'cut')
    await logged('a worker serves again')
    assert.equal((await workers()).map(({ phase, restarts }) => [phase, restarts]).sort(), [
      ['ready', 0],
      ['ready', 1],
    ])
    const ended = stop()
    await logged('stopping: answers in flight are finished first')
    for (const response of open) response.end(`${lo}${end}${done}`)
    assert.match(await textOf(kept!), /"Hel"[\s\S]*"lo"[\s\S]*\[DONE\]/)
    assert.is(await ended, 0)
    const sessions = `SELECT pid FROM pg_stat_activity WHERE datname = '${database}'`
    while ((await server().query(sessions)).length > 0);
    const booked = await server().query('SELECT count(*), count(DISTINCT (request, attempt)) FROM ledger', database)
    assert.is(booked[0]![0], booked[0]![1])
    assert.equal(await server().query('SELECT count(*) FROM process_lease', database), [['0']])
  })
})

run()

/** Two workers on a new database, whose name is given too. */
async function onPostgres(
  answer: Answer,
  work: (daemon: WorkerDaemon, database: string) => Promise<void>,
): Promise<void> {
  const url = await server().newMigrated()
  const environment = { DATABASE_URL: url, JWT_SECRET: secret }
  const whenReady = async (daemon: WorkerDaemon) => {
    // A worker learns of the plugin with its next look at the database.
    for (const client of [daemon.first, daemon.second])
      await until(
        () => client.call('GET', '/api/plugins/active/current'),
        ({ status, body }) => status === 200 && body?.id === 'custom',
      )
    await work(daemon, new URL(url).pathname.slice(1))
  }
  await withWorkers(answer, whenReady, environment)
}

/** Another process hears of a change in its own time: a minute at most. */
async function until(read: () => Promise<ClientAnswer>, isThere: (answer: ClientAnswer) => boolean): Promise<void> {
  const end = Date.now() + 60_000
  for (;;) {
    const answer = await read()
    if (isThere(answer)) return
    assert.ok(Date.now() < end, `still ${answer.status} ${answer.text}`)
  }
}
