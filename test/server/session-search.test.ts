import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { type As, withUsers } from '../helpers/program/user-daemon.ts'
import { suite } from '../helpers/suite.ts'
import { withKeyDaemon } from './key-daemon.ts'

const test = suite('search in saved conversations over HTTP')

test('messages are found by their words with session, time, role and snippet, in pages, the last first', () =>
  withUsers(async ({ ada }) => {
    await fill(ada, 'Trip', ['A night train to Zürich?', 'Yes: the *night* train at ten.'])
    await fill(ada, 'Food', ['Train your taste', 'Eat in Lisbon'])
    const { hits, more } = await search(ada, 'q=train')
    assert.equal(
      hits.map(({ session, number, role }: Hit) => [session.name, number, role]),
      [
        ['Food', 1, 'user'],
        ['Trip', 2, 'assistant'],
        ['Trip', 1, 'user'],
      ],
    )
    assert.is(more, false)
    const [, hit] = hits
    assert.equal(
      hit.marks.map(([start, end]: [number, number]) => hit.snippet.slice(start, end)),
      ['train'],
    )
    assert.ok(Math.abs(hit.timestamp - Date.now()) < 60_000)
    const page = await search(ada, 'q=train&limit=2&offset=1')
    assert.equal([page.hits.length, page.more, page.hits[0].number], [2, false, 2])
    assert.is((await search(ada, 'q=train&limit=1')).more, true)
    assert.is((await search(ada, `q=train&since=${Date.now() + 60_000}`)).hits.length, 0)
    assert.is((await search(ada, `q=${encodeURIComponent('"night train" zur*')}`)).hits.length, 1)
  }))

test('no text is a syntax error; only what is too long or empty is refused', () =>
  withUsers(async ({ ada }) => {
    await fill(ada, 'Trip', ['quotes " and NEAR(a b) OR terms:x', 'x'])
    for (const q of [
      '"',
      '""',
      "'; DROP TABLE conversation; --",
      'NEAR(a b',
      'terms:x',
      '*',
      'a*b*',
      '^x',
      '\0',
      '%',
      '{',
      'x'.repeat(1000),
    ])
      assert.type((await search(ada, `q=${encodeURIComponent(q)}`)).more, 'boolean', q)
    assert.is((await search(ada, `q=${encodeURIComponent('NEAR(a b) OR')}`)).hits.length, 1)
    for (const query of ['', 'q=', `q=${'x'.repeat(1001)}`, 'q=x&limit=0', 'q=x&offset=-1', 'q=x&since=soon'])
      assert.is((await ada('GET', `/api/sessions/search?${query}`)).status, 400, query)
  }))

test('a key for some personas finds their conversations alone, and removes none at once', () =>
  withKeyDaemon(async ({ call, key, bob }) => {
    for (const name of ['Mia', 'Leo']) {
      await call('POST', '/api/personas', { ...bob, body: { name, model: 'm-one' } })
      const { id } = (await call('POST', '/api/sessions', { ...bob, body: { persona: name } })).body
      const messages = [{ role: 'user', content: `train with ${name}` }]
      assert.is((await call('POST', `/api/sessions/${id}/messages`, { ...bob, body: { messages } })).status, 200)
    }
    const { secret: token } = await key(bob, { scopes: ['personas'], personas: ['Mia'] })
    const { body } = await call('GET', '/api/sessions/search?q=train', { token })
    assert.equal(pluck(body.hits, 'snippet'), ['train with Mia'])
    assert.is((await call('DELETE', '/api/sessions?all=true', { token })).status, 403)
  }))

test.run()

interface Hit {
  readonly session: { readonly name: string }
  readonly number: number
  readonly role: string
  readonly timestamp: number
  readonly snippet: string
  readonly marks: readonly [number, number][]
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
async function search(as: As, query: string): Promise<any> {
  const { status, body } = await as('GET', `/api/sessions/search?${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

async function fill(as: As, name: string, [question, answer]: readonly [string, string]): Promise<void> {
  await as('POST', '/api/sessions', { name })
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]
  const { status } = await as('POST', `/api/sessions/${name}/messages`, { messages })
  assert.is(status, 200)
}
