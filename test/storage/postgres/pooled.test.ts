// With --all only: a fault of PostgreSQL.

import * as assert from 'uvu/assert'
import { until } from '../../helpers/eventually.ts'
import { openInstances } from '../../helpers/postgres/instances.ts'
import { havePgBouncer, openPgBouncer } from '../../helpers/postgres/pgbouncer.ts'
import { ownPostgresSuite } from '../../helpers/postgres/suite.ts'
import { goodPassword } from '../../helpers/program/daemon.ts'

const { test, server, run } = ownPostgresSuite('instances behind PgBouncer')

if (havePgBouncer())
  test('setup, chats, sessions and the end of a login work in transactions that share two connections', async () => {
    const bouncer = await openPgBouncer(server().port, { connections: 2 })
    const instances = await openInstances(bouncer.at(await server().newMigrated()), { count: 2 })
    try {
      const [one, two] = instances.all
      const token = await instances.setUp()
      const body = { messages: [{ role: 'user', content: 'Hi' }] }
      assert.is((await one!.call('POST', '/v1/chat/completions', { token, body })).status, 200)
      assert.is((await one!.call('POST', '/api/sessions', { token, body: { name: 'first' } })).status, 201)
      // No notification comes through a pooler: the poll tells the other instance of the plugin, and of the logout below.
      await until(async () => (await two!.call('GET', '/api/plugins/active/current', { token })).body?.id === 'custom')
      const said = await two!.call('POST', '/api/chat', {
        token,
        body: { ...body, session: 'first', model: 'custom:custom-model' },
      })
      assert.is(said.status, 200, JSON.stringify(said.body))
      assert.is(said.body.aichat?.unsaved, undefined)
      const kept = (await one!.call('GET', '/api/sessions/first', { token })).body
      assert.is(kept.messages?.length, 2, JSON.stringify(kept))
      assert.is((await one!.call('POST', '/api/auth/logout', { token })).status, 200)
      await until(async () => {
        const { status } = await two!.call('GET', '/api/auth/me', { token })
        if (status !== 401) assert.is(status, 200)
        return status === 401
      })
      const login = { username: 'admin', password: goodPassword }
      const again = (await one!.call('POST', '/api/auth/login', { body: login })).body.token
      const statuses = async () => {
        const both = await Promise.all([one!, two!].map((each) => each.call('GET', '/api/sessions', { token: again })))
        return both.map(({ status }) => status)
      }
      assert.equal(await statuses(), [200, 200])
      await server().stop('immediate')
      // The pooler is there, and the server behind it is not.
      await until(async () => {
        const seen = await statuses()
        assert.ok(
          seen.every((status) => status === 200 || status === 503),
          seen.join(),
        )
        return seen.every((status) => status === 503)
      })
      await server().start()
      await until(async () => (await statuses()).every((status) => status === 200))
    } finally {
      await instances.close()
      await bouncer.close()
    }
  })

run()
