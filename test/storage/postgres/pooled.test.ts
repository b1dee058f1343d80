import * as assert from 'uvu/assert'
import { openInstances } from './instances.ts'
import { havePgBouncer, openPgBouncer } from './pgbouncer.ts'
import { postgresSuite } from './suite.ts'

const { test, server, run } = postgresSuite('instances behind PgBouncer')

if (havePgBouncer())
  test('setup, chats, sessions and the end of a login work in transactions that share two connections', async () => {
    const bouncer = await openPgBouncer(server().port, { connections: 2 })
    const instances = await openInstances(bouncer.at(await server().newDatabase()), { count: 2 })
    try {
      const [one, two] = instances.all
      const token = await instances.setUp()
      const body = { messages: [{ role: 'user', content: 'Hi' }] }
      assert.is((await one!.call('POST', '/v1/chat/completions', { token, body })).status, 200)
      assert.is((await one!.call('POST', '/api/sessions', { token, body: { name: 'first' } })).status, 201)
      const said = await two!.call('POST', '/api/chat', {
        token,
        body: { ...body, session: 'first', model: 'custom:custom-model' },
      })
      assert.is(said.status, 200, JSON.stringify(said.body))
      assert.is(said.body.aichat?.unsaved, undefined)
      const kept = (await one!.call('GET', '/api/sessions/first', { token })).body
      assert.is(kept.messages?.length, 2, JSON.stringify(kept))
      assert.is((await one!.call('POST', '/api/auth/logout', { token })).status, 200)
      // No notification comes through a pooler: the poll tells of it.
      for (;;) {
        const { status } = await two!.call('GET', '/api/auth/me', { token })
        if (status === 401) break
        assert.is(status, 200)
      }
    } finally {
      await instances.close()
      await bouncer.close()
    }
  })

run()
