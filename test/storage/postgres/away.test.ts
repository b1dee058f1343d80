// With --all only: a fault of PostgreSQL.

import * as assert from 'uvu/assert'
import { until as untilSo } from '../../helpers/eventually.ts'
import { openWay } from '../../helpers/postgres/faults.ts'
import { type Instances, openInstances } from '../../helpers/postgres/instances.ts'
import { ownPostgresSuite } from '../../helpers/postgres/suite.ts'
import type { Answered, ServingDaemon } from '../../helpers/program/daemon.ts'

const { test, server, run } = ownPostgresSuite('an instance whose database goes away')

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const ask = (daemon: ServingDaemon, token: string): Promise<Answered> =>
  daemon.call('POST', '/v1/chat/completions', { token, body: chat })

test('chats of a checked login go on, all else is 503 with Retry-After, and all works again once it is back', async () => {
  const database = await server().newMigrated()
  await withInstance(database, {}, async (instances, way) => {
    const [daemon] = instances.all
    const token = await instances.setUp()
    assert.is((await daemon!.call('PUT', '/api/limits/all', { token, body: { rpm: 3 } })).status, 200)
    assert.is((await ask(daemon!, token)).status, 200)
    way.cut()
    await until(daemon!, ({ body }) => body.database.reachable === false)
    const answered = await ask(daemon!, token)
    assert.is(answered.status, 200, JSON.stringify(answered.body))
    assert.is(answered.headers.get('x-ratelimit-remaining-requests'), '1', 'it counts by what it knew')
    assert.is(answered.body.choices[0].message.content, 'Hello big wide world')
    const elsewhere = [
      await daemon!.call('GET', '/api/personas', { token }),
      await daemon!.call('GET', '/api/plugins', { token }),
      await daemon!.call('POST', '/api/auth/login', { body: { username: 'admin', password: 'Passw0rd' } }),
      await daemon!.call('POST', '/api/chat', { token, body: { ...chat, persona: 'nobody' } }),
      await daemon!.call('POST', '/api/chat', { token, body: { ...chat, session: 'one' } }),
      // A token that was not checked may be good: it is not refused as a wrong one.
      await daemon!.call('POST', '/v1/chat/completions', { token: other(token), body: chat }),
    ]
    for (const { status, headers, body } of elsewhere) {
      assert.is(status, 503, JSON.stringify(body))
      assert.is(headers.get('retry-after'), '2')
    }
    assert.is((await daemon!.call('GET', '/ready')).status, 200)
    const health = await daemon!.call('GET', '/health')
    assert.is(health.status, 200)
    assert.not.match(JSON.stringify(health.body), /postgres|aichat@/)
    way.resume()
    await until(daemon!, ({ body }) => body.database.reachable === true)
    assert.is((await daemon!.call('GET', '/api/personas', { token })).status, 200)
    assert.equal([(await ask(daemon!, token)).status, (await ask(daemon!, token)).status], [200, 429])
    await daemon!.stop()
    assert.match(daemon!.output.stderr, /the database is away/)
    assert.match(daemon!.output.stderr, /the database is back/)
    assert.not.match(daemon!.output.stderr, /database-password/)
  })
})

test('with a grace of 0, no chat goes on, and the instance is not ready', async () => {
  await withInstance(await server().newMigrated(), { AICHAT_DB_GRACE: '0' }, async (instances, way) => {
    const [daemon] = instances.all
    const token = await instances.setUp()
    assert.is((await ask(daemon!, token)).status, 200)
    way.cut()
    await until(daemon!, ({ body }) => body.database.reachable === false)
    // Accounts read within the last second stay valid.
    await untilSo(async () => {
      const { status } = await ask(daemon!, token)
      if (status !== 503) assert.is(status, 200)
      return status === 503
    })
    const ready = await daemon!.call('GET', '/ready')
    assert.equal([ready.status, ready.body], [503, { status: 'database_away' }])
  })
})

test('a network that stalls ends statements under way, and requests fail in place of waiting', async () => {
  await withInstance(await server().newMigrated(), {}, async (instances, way) => {
    const [daemon] = instances.all
    const token = await instances.setUp()
    assert.is((await ask(daemon!, token)).status, 200)
    way.stall()
    const waiting = await daemon!.call('GET', '/api/personas', { token })
    assert.is(waiting.status, 503)
    await until(daemon!, ({ body }) => body.database.reachable === false)
    assert.is((await ask(daemon!, token)).status, 200)
    way.resume()
    await until(daemon!, ({ body }) => body.database.reachable === true)
    assert.is((await daemon!.call('GET', '/api/personas', { token })).status, 200)
  })
})

test('a session that cannot be saved is answered, and says that it is not saved', async () => {
  await withInstance(await server().newMigrated(), {}, async (instances, way) => {
    const [daemon] = instances.all
    const token = await instances.setUp()
    way.cut()
    await until(daemon!, ({ body }) => body.database.reachable === false)
    const { status, body } = await daemon!.call('POST', '/api/chat', { token, body: { ...chat, keep: {} } })
    assert.is(status, 200, JSON.stringify(body))
    assert.is(body.aichat.unsaved, 'unavailable')
    assert.match(body.aichat.warnings.join(), /could not be saved/)
    // One that begins while it is away, and ends when it is back, is saved.
    const saving = daemon!.call('POST', '/api/chat', { token, body: { ...chat, keep: { title: 'later' } } })
    way.resume()
    const saved = await saving
    assert.is(saved.body.aichat.unsaved, undefined, JSON.stringify(saved.body))
    assert.ok(saved.body.aichat.session.id)
  })
})

test('a database that stops and starts, and one that takes no writes for a while, are used again', async () => {
  const instances = await openInstances(await server().newMigrated(), { count: 1 })
  try {
    const [daemon] = instances.all
    const token = await instances.setUp()
    for (const mode of ['immediate', 'fast'] as const) {
      await server().stop(mode)
      await until(daemon!, ({ body }) => body.database.reachable === false)
      assert.is((await ask(daemon!, token)).status, 200)
      await server().start()
      await until(daemon!, ({ body }) => body.database.reachable === true)
      assert.is((await daemon!.call('POST', '/api/sessions', { token, body: { name: mode } })).status, 201)
    }
    await server().turn('read-only')
    await until(daemon!, ({ body }) => body.database.reachable === false)
    assert.is((await daemon!.call('POST', '/api/sessions', { token, body: { name: 'refused' } })).status, 503)
    await server().turn('writable')
    await until(daemon!, ({ body }) => body.database.reachable === true)
    assert.is((await daemon!.call('POST', '/api/sessions', { token, body: { name: 'again' } })).status, 201)
  } finally {
    await instances.close()
  }
})

run()

/** Runs one instance behind a way to the database that a test can cut. */
async function withInstance(
  database: string,
  environment: Readonly<Record<string, string>>,
  work: (instances: Instances, way: Awaited<ReturnType<typeof openWay>>) => Promise<void>,
): Promise<void> {
  const way = await openWay(server().port)
  const instances = await openInstances(way.at(database), { count: 1, environment })
  try {
    await work(instances, way)
  } finally {
    await instances.close()
    await way.close()
  }
}

/** Asks an instance for its health until it is as expected. */
async function until(daemon: ServingDaemon, isSo: (health: Answered) => boolean): Promise<void> {
  await untilSo(async () => isSo(await daemon.call('GET', '/health')))
}

/** A well-formed token that was never checked. */
function other(token: string): string {
  const [header, payload] = token.split('.')
  return [header, payload, ''].join('.')
}
