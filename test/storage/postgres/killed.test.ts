// With --all only: a killed process.

import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import type { Database } from '../../../src/storage/postgres/sql.ts'
import { until } from '../../helpers/eventually.ts'
import { type Instances, spawnInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { type CallOptions, goodPassword, type SpawnedDaemon } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'

const { test, server, run } = postgresSuite('one of three instances that is killed')

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const silent = 'silence after the first chunk'

let instances: Instances<SpawnedDaemon>
let runner: StandIn
let db: Database
let token: string
/** Batches of texts to embed that reached the runner, and whether it keeps them waiting. */
let batches = 0
let isHeld = true

test('a stream is cut where its instance is killed, and the others go on, in its session too', async () => {
  runner = await openRunner()
  const database = await server().newMigrated()
  db = openDatabase(database)
  instances = await spawnInstances(database, { environment: { OLLAMA_HOST: runner.host } })
  token = await instances.setUp()
  const [killed, other] = instances.all
  const plugin = { ...pluginAt(`${instances.provider.url}/${encodeURIComponent(silent)}`), id: 'silent' }
  await ask(0, 'POST', '/api/plugins/install', { body: plugin }, 201)
  await ask(0, 'POST', '/api/sessions', { body: { name: 'kept' } }, 201)
  const response = await fetch(`${killed!.url}/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...chat, stream: true, session: 'kept', model: 'silent:custom-model', fallback: false }),
  })
  assert.is(response.status, 200, response.status === 200 ? '' : await response.text())
  const reader = response.body!.getReader()
  assert.match(Buffer.from((await reader.read()).value!).toString(), /Hello|event|data/)
  await killed!.stop('SIGKILL')
  const rest = (async () => {
    for (;;) if ((await reader.read()).done) return 'whole'
  })()
  assert.match(await rest.catch(String), /terminated/, 'the client sees that it is cut')
  const said = await other!.call('POST', '/api/chat', {
    token,
    body: { ...chat, session: 'kept', model: 'custom:custom-model' },
  })
  assert.is(said.status, 200, JSON.stringify(said.body))
  assert.is((await ask(2, 'GET', '/api/sessions/kept')).messages.length, 2, 'no half turn was kept')
  await instances.restart(0)
})

test('an import that its instance did not finish leaves no persona, and another instance imports the same', async () => {
  const before = await ask(1, 'GET', '/api/personas')
  const lines = Array.from({ length: 300 }, (_, at) => JSON.stringify({ content: `Memory of tea number ${at}` }))
  const imports = (index: number) =>
    fetch(`${instances.all[index]!.url}/api/personas/import?name=Ada&model=custom-model`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    })
  await whileLocked('memory', async (waiting) => {
    const importing = imports(0).then(({ status }) => status, String)
    await waiting()
    await instances.all[0]!.stop('SIGKILL')
    assert.match(String(await importing), /failed/)
  })
  const rows = await db.row<{ count: number }>('SELECT count(*) AS count FROM memory')
  assert.is(rows!.count, 0)
  assert.equal((await ask(1, 'GET', '/api/personas')).total, before.total)
  const imported = await imports(1)
  assert.is(imported.status, 201, imported.status === 201 ? '' : await imported.text())
  assert.is((await ask(2, 'GET', '/api/personas')).personas.length, before.personas.length + 1)
  await instances.restart(0)
})

test('logins under way leave nothing that keeps their user out at another instance', async () => {
  const login = (index: number, password = goodPassword) =>
    instances.all[index]!.call('POST', '/api/auth/login', { body: { username: 'admin', password } })
  await whileLocked('login_session', async (waiting) => {
    const logins = Array.from({ length: 5 }, () => login(0).then(({ status }) => status, String))
    await waiting()
    await instances.all[0]!.stop('SIGKILL')
    for (const ended of await Promise.all(logins)) assert.match(String(ended), /failed/)
  })
  assert.is((await login(1)).status, 200)
  assert.equal(await db.rows('SELECT * FROM login_refusal'), [])
  await instances.restart(0)
})

test('vectors that its instance did not write are made by another once the lease is over', async () => {
  const { id } = await ask(0, 'POST', '/api/personas', { body: { name: 'Eve', model: 'custom-model' } }, 201)
  const path = `/api/personas/${id}`
  for (let at = 0; at < 3; at++) await ask(0, 'POST', `${path}/memory`, { body: { content: `Tea ${at}` } }, 201)
  await ask(0, 'PUT', path, { body: { embedding_model: 'toy-embed' } })
  const started = instances.all[0]!.call('POST', `${path}/memory/search`, { token, body: { query: 'tea' } })
  started.catch(() => undefined)
  await until(() => batches > 0)
  await instances.all[0]!.stop('SIGKILL')
  isHeld = false
  const lease = () => db.row<{ held_until: number }>('SELECT held_until FROM embedding_lease')
  assert.ok((await lease())!.held_until > Date.now() - 30_000)
  // As if its 30 s were over.
  await db.run('UPDATE embedding_lease SET held_until = 0')
  await until(async () => {
    await ask(1, 'POST', `${path}/memory/search`, { body: { query: 'tea' } })
    const { memories } = await ask(1, 'GET', `${path}/memory`)
    return memories.every(({ embedding_status }: { embedding_status: string }) => embedding_status === 'ready')
  })
  assert.ok(batches > 1)
})

test('all that was opened ends', async () => {
  await instances.close()
  await db.close()
  await runner.close()
})

run()

/** Asks an instance as the administrator; throws the answer where its status is another one. */
async function ask(index: number, method: string, path: string, options: CallOptions = {}, wanted = 200) {
  const { status, body } = await instances.all[index]!.call(method, path, { token, ...options })
  assert.is(status, wanted, JSON.stringify(body))
  return body
}

/** Keeps every writer of a table waiting; `waiting` resolves once one does. */
async function whileLocked(table: string, work: (waiting: () => Promise<void>) => Promise<void>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)
    await work(async () => {
      // Copies of one database have the same numbers of tables.
      const place = `relation = '${table}'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      await until(async () => !!(await tx.row(`SELECT 1 FROM pg_locks WHERE NOT granted AND ${place}`)))
    })
  })
  // The transactions of the killed end when they hear of its end.
  const others = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL
    AND pid <> pg_backend_pid() AND xact_start < now() - interval '100 ms'`
  await until(async () => !(await db.row(others)))
}

/** A runner with an embedding model that holds its first batch of several texts for ever. */
function openRunner(): Promise<StandIn> {
  return openStandIn((request, response) => {
    if (request.url === '/api/tags')
      return json(response, 200, { models: [{ name: 'toy-embed:latest', digest: 'digest' }] })
    const { input } = request.body ? JSON.parse(request.body) : {}
    if (request.url === '/api/show')
      return json(response, 200, { capabilities: ['embedding'], model_info: { 'bert.embedding_length': 3 } })
    if (request.url !== '/api/embed') return json(response, 404, { error: 'not found' })
    const texts = [input].flat()
    if (texts.length > 1 && batches++ === 0 && isHeld) return
    json(response, 200, { embeddings: texts.map(() => [1, 2, 3]) })
  })
}
