// With --all only: PostgreSQL.

import { existsSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { eventually } from '../../helpers/eventually.ts'
import { type Instances, openInstances } from '../../helpers/postgres/instances.ts'
import { ownPostgresSuite } from '../../helpers/postgres/suite.ts'
import { callApi, goodPassword, type ServingDaemon } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { faultServer } from '../../helpers/providers/fault-server.ts'

const { test, server, run } = ownPostgresSuite('what instances on one database share', {
  settings: { log_statement: 'all', log_min_duration_statement: '-1' },
})

const chat = { messages: [{ role: 'user', content: 'Hi' }] }

let instances: Instances
let one: ServingDaemon
let two: ServingDaemon
let token: string
let database: string

test('the first administrator of one is that of all, and the setup token is the same on each', async () => {
  database = await server().newMigrated()
  instances = await openInstances(database, { count: 2, answer: faultServer() })
  one = instances.all[0]!
  two = instances.all[1]!
  // Each writes it behind the line that says that it listens.
  const tokens = await eventually(async () => {
    const files = [one, two].map(({ home }) => join(home, 'setup-token'))
    return files.every((file) => existsSync(file)) ? files.map((file) => readFileSync(file, 'utf8')) : undefined
  })
  assert.is(tokens[0], tokens[1])
  token = await instances.setUp()
  assert.is((await two.call('GET', '/')).body.needs_setup, false)
  assert.is((await two.call('GET', '/')).body.installation, (await one.call('GET', '/')).body.installation)
  assert.is((await two.call('GET', '/api/auth/me', { token })).status, 200)
})

test('a plugin that one activates answers at the other, and a chat without persona and session asks the database nothing', async () => {
  const before = await eventually(async () => {
    const { status, body } = await two.call('POST', '/v1/chat/completions', { token, body: chat })
    return status === 200 ? body : undefined
  })
  assert.is(before.choices[0].message.content, 'Hello big wide world')
  const name = new URL(database).pathname.slice(1)
  const chats = 40
  const from = server().log().length
  const begun = performance.now()
  for (let count = 0; count < chats; count++)
    assert.is((await two.call('POST', '/v1/chat/completions', { token, body: chat })).status, 200)
  // The next poll shows that the log holds statements; a fast machine is done before one is due.
  const said = await eventually(async () => {
    await two.call('GET', '/health')
    const text = server().log().slice(from)
    return /SELECT kind, number/.test(text) ? text : undefined
  })
  const statements = said.split('\n').filter((line) => /LOG: {2}(?:statement|execute)/.test(line))
  // The polls of both, and the ledger, which writes the rows of many chats together.
  const others = statements.filter((line) => !/FROM change/.test(line) && !/SELECT kind, number/.test(line))
  const perChat = others.filter(
    (line) => !/INTO ledger/.test(line) && /account|login_session|api_key|plugin|persona|conversation|price/.test(line),
  )
  // Allows for a late poll on a busy machine: entries older than a second are read again.
  assert.ok(perChat.length < chats / 4, `${name}: ${perChat.join('\n')}`)
  const written = others.filter((line) => /INSERT INTO ledger_name/.test(line))
  // It is written five times a second at most: those of a slow machine are more than those of a fast one.
  const seconds = Math.ceil((performance.now() - begun) / 1000)
  assert.ok(
    written.length < Math.max(chats / 2, seconds * 5),
    `the ledger was written ${written.length} times for ${chats} chats`,
  )
})

test('a login that ends at one is refused at the other', async () => {
  const waits: number[] = []
  for (let count = 0; count < 20; count++) {
    const login = await one.call('POST', '/api/auth/login', { body: { username: 'admin', password: goodPassword } })
    const ended = login.body.token
    assert.is((await two.call('GET', '/api/auth/me', { token: ended })).status, 200)
    assert.is((await one.call('POST', '/api/auth/logout', { token: ended })).status, 200)
    const from = performance.now()
    await eventually(async () => (await two.call('GET', '/api/auth/me', { token: ended })).status === 401 || undefined)
    waits.push(performance.now() - from)
  }
  waits.sort((first, second) => first - second)
  const [half, most] = [waits[10]!, waits.at(-1)!].map((ms) => ms.toFixed(1))
  const load = loadavg()[0]!.toFixed(1)
  process.stdout.write(
    `\nnote: a logout was refused elsewhere after ${half} ms (p50), ${most} ms (longest of 20), load ${load}\n`,
  )
  assert.is((await two.call('GET', '/api/auth/me', { token })).status, 200)
})

test('an answer under way ends at one where its login or its API key ends at the other, and those of others go on', async () => {
  const silent = `${instances.provider.url}/${encodeURIComponent('silence after the first chunk')}`
  await one.call('POST', '/api/plugins/install', { token, body: { ...pluginAt(silent), id: 'silent' } })
  const login = await one.call('POST', '/api/auth/login', { body: { username: 'admin', password: goodPassword } })
  const key = await one.call('POST', '/api/keys', { token, body: { name: 'script' } })
  assert.is(key.status, 201, JSON.stringify(key.body))
  const opened = async (credential: string) => {
    const reader = await eventually(async () => {
      const response = await fetch(`${two.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...chat, stream: true, model: 'silent:custom-model', fallback: false }),
      })
      if (response.status === 200) return response.body!.getReader()
      await response.text()
      return undefined
    })
    await reader.read()
    return { rest: readAll(reader), reader }
  }
  const streams = {
    login: await opened(login.body.token),
    key: await opened(key.body.secret),
    kept: await opened(token),
  }
  assert.is((await one.call('POST', '/api/auth/logout', { token: login.body.token })).status, 200)
  assert.match(await streams.login.rest, /login has ended/)
  assert.is((await one.call('DELETE', `/api/keys/${key.body.id}`, { token })).status, 200)
  assert.match(await streams.key.rest, /key/i)
  const kept = await Promise.race([streams.kept.rest, new Promise((resolve) => setImmediate(resolve, 'open'))])
  assert.is(kept, 'open')
  await streams.kept.reader.cancel()
})

test('of two writers of one plugin, one whole document wins, and the other is its backup', async () => {
  const documents = ['one', 'two'].map((name) => ({
    ...pluginAt(`${instances.provider.url}/healthy`),
    id: 'contested',
    name,
    model_map: Array.from({ length: 200 }, (_, at) => `${name}-${at}`),
  }))
  const written = await Promise.all([
    one.call('POST', '/api/plugins/install?replace=true', { token, body: documents[0] }),
    two.call('POST', '/api/plugins/install?replace=true', { token, body: documents[1] }),
  ])
  assert.ok(
    written.every(({ status }) => status < 300),
    JSON.stringify(written.map(({ body }) => body)),
  )
  const seen = await eventually(async () => {
    const both = await Promise.all([one, two].map((each) => each.call('GET', '/api/plugins/contested', { token })))
    return both[0]!.body.name === both[1]?.body.name ? both[0]!.body : undefined
  })
  assert.equal(seen.model_map, documents.find(({ name }) => name === seen.name)!.model_map)
})

test('a plugin that points at the balancer of its own instances is refused as a loop', async () => {
  const loop = { ...pluginAt(instances.url), id: 'loop', endpoint: `${instances.url}/v1/chat/completions` }
  assert.is((await one.call('POST', '/api/plugins/install', { token, body: loop })).status, 201)
  const asked = await eventually(async () => {
    const answer = await two.call('POST', '/v1/chat/completions', {
      token,
      body: { ...chat, model: 'loop:custom-model', fallback: false },
    })
    return answer.status === 404 || answer.status === 400 ? undefined : answer
  })
  assert.ok(asked.status >= 500, JSON.stringify(asked.body))
  assert.match(JSON.stringify(asked.body), /comes from this installation itself/)
  assert.not.match(JSON.stringify(asked.body), /database-password/)
})

test('an instance names itself to all, and the database, without its password, to administrators alone', async () => {
  const health = (await one.call('GET', '/health')).body
  assert.match(health.instance, new RegExp(`:${new URL(one.url).port}$`))
  assert.equal(health.database, { reachable: true })
  const status = (await one.call('GET', '/api/status', { token })).body
  const name = database.replace(':database-password', '')
  assert.equal([status.instance, status.database], [health.instance, { name, reachable: true }])
  const user = { username: 'nosy', password: 'Passw0rd!', role: 'user' }
  assert.is((await one.call('POST', '/api/users', { token, body: user })).status, 201)
  const login = await one.call('POST', '/api/auth/login', { body: user })
  const theirs = (await one.call('GET', '/api/status', { token: login.body.token })).body
  assert.equal([theirs.instance, theirs.database], [health.instance, { reachable: true }])
  const metrics = await callApi(one.url)('GET', '/metrics')
  assert.match(metrics.body, /aichat_database_up\{database="postgresql:\/\/aichat@127[^"]*",instance_name="[^"]+"\} 1/)
})

test('all instances end', () => instances.close())

run()

/** All that a stream says until its end, whole or not. */
async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += Buffer.from(value).toString()
    }
  } catch (reason) {
    return `${text} ${reason}`
  }
}
