// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { type Scope, scopes } from '../../src/accounts/keys/rights.ts'
import { operations } from '../../src/operations/table.ts'
import { dialectRoutes } from '../../src/server/dialect-routes.ts'
import { mcpRoutes } from '../../src/server/mcp-routes.ts'
import { pluck } from '../helpers/pluck.ts'
import { completion, json, localRunner } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'
import { type KeyDaemon, openKeyDaemon, withKeyDaemon } from './key-daemon.ts'

type Decision = 'public' | 'closed' | readonly Scope[]

/**
 * The scopes that open each route to a key: the first pattern that fits `METHOD PATH` decides; a route without one
 * fails the test.
 */
const contract: readonly (readonly [RegExp, Decision])[] = [
  [/^POST \/api\/auth\/(?:login|register|setup)$/, 'public'],
  [/^GET \/api\/auth\/system-info$/, 'public'],
  [
    /^\w+ \/api\/(?:auth|users|keys|plugins|service|requests|load|status|limits|prices|responses|backups|audit|settings|mcp)(?:\/|$)/,
    'closed',
  ],
  [/^GET \/api\/(?:models(?:\/(?:show|running|known))?|chat\/models|embeddings\/models)$/, ['models']],
  [/^\w+ \/api\/models(?:\/|$)/, 'closed'],
  [/^POST \/api\/(?:chat(?:\/|$)|documents\/text$)/, ['chat']],
  [/^\w+ \/api\/speech(?:\/|$)/, ['speech']],
  [/^\w+ \/api\/sessions(?:\/|$)/, ['personas']],
  [/^\w+ \/api\/personas\/:id\/(?:memory|profile)(?:\/|$)/, ['memory']],
  [/^\w+ \/api\/personas\/(?:import|:id\/(?:backup|backups|restore|export|verify))$/, ['personas', 'memory']],
  [/^\w+ \/api\/personas(?:\/|$)/, ['personas']],
  [/^GET \/api\/usage(?:\/(?:export|attempts|last-hour))?$/, ['usage']],
  [/^\w+ \/api\/usage\/(?:check|prune)$/, 'closed'],
  [/^POST \/v1\/(?:chat\/completions|completions|moderations|messages)/, ['chat']],
  [/^\w+ \/v1\/(?:responses|conversations)(?:\/|$)/, ['chat']],
  [/^POST \/(?:v1|api)\/embeddings$/, ['embeddings']],
  [/^POST \/v1\/audio\/speech$/, ['speech']],
  [/^GET \/v1\/models(?:\/|$)/, ['models']],
  [/^POST \/mcp(?:\/|$)/, ['memory']],
  [/^GET \/ollama(?:\/|\/api\/version)?$/, 'public'],
  [/^POST \/ollama\/api\/embed/, ['embeddings']],
  [/^\w+ \/ollama\/api\//, ['chat']],
]

const routes = [
  ...operations,
  ...[dialectRoutes, mcpRoutes].flatMap((list) =>
    list({} as never, () => {
      throw new Error('only listed')
    }),
  ),
].map(({ method, path }) => ({ method, path, decision: decisionOn(`${method} ${path}`) }))

const test = suite('what a key opens')

test('every operation says what the contract says', () => {
  for (const { method, path, access, scope } of operations) {
    const decision = decisionOn(`${method} ${path}`)
    assert.is(access === 'public', decision === 'public', `${method} ${path}`)
    const said = scope === undefined ? decision : [scope].flat()
    assert.equal(
      said,
      scope === undefined ? (decision === 'public' ? 'public' : 'closed') : decision,
      `${method} ${path}`,
    )
  }
})

test.whole(
  'each route × each key of one scope, of all, and of all but those that are needed, of an administrator',
  () =>
    withKeyDaemon(
      async (daemon) => {
        const keyWith = async (list: readonly Scope[]) => (await daemon.key(daemon.ada, { scopes: list })).secret
        const single = new Map<Scope, string>()
        for (const scope of scopes) single.set(scope, await keyWith([scope]))
        const all = await keyWith(scopes)
        const personas = await keyWith(['personas', 'memory'])
        for (const [place, route] of routes.entries()) {
          const { decision } = route
          const what = `${route.method} ${route.path}`
          const ask = (secret: string) => probe(daemon, route, secret)
          if (decision === 'public') {
            // A key is no more than no token there.
            assert.not((await ask(all)).status === 403, what)
            continue
          }
          if (decision === 'closed') {
            const answer = await ask(all)
            assert.equal([answer.status, answer.body.code], [403, 'key_scope'], what)
            assert.match(answer.headers.get('www-authenticate')!, /insufficient_scope/)
            continue
          }
          for (const [at, [scope, secret]] of [...single].entries()) {
            const opens = decision.every((needed) => needed === scope)
            // A sample has the scopes that are needed, and another third of the others for each route.
            if (!isWholeRun && !decision.includes(scope) && (place + at) % 3 !== 0) continue
            const answer = await ask(secret)
            if (opens) assert.not([401, 403].includes(answer.status), `${what} with ${scope}: ${answer.status}`)
            else {
              assert.is(answer.status, 403, `${what} with ${scope}`)
              const missing = decision.filter((needed) => needed !== scope).join(' and ')
              assert.match(JSON.stringify(answer.body), `lacks the scope ${missing}`)
              // Ollama's errors are a text alone.
              if (!route.path.startsWith('/ollama/'))
                assert.match(
                  JSON.stringify(answer.body),
                  route.path.startsWith('/v1/messages') ? 'permission_error' : 'key_scope',
                )
            }
          }
          for (const secret of decision.length > 1 ? [all, personas] : [all])
            assert.not([401, 403].includes((await ask(secret)).status), `${what} with all`)
        }
        assert.is(
          (await daemon.call('GET', '/metrics', { token: all, headers: { 'x-forwarded-for': '10.1.2.3' } })).status,
          403,
        )
      },
      { runner: localRunner() },
    ),
)

test.whole('a key for some personas reaches no other, by no route', async () => {
  await using daemon = await openKeyDaemon({ provider: (_, response) => json(response, 200, completion('Hello')) })
  const { call, key, bob } = daemon
  const persona = async (name: string) =>
    (await call('POST', '/api/personas', { ...bob, body: { name, model: 'm-one', system_prompt: `I am ${name}.` } }))
      .body
  const [mia, leo] = [await persona('Mia'), await persona('Leo')]
  const session = async (body: object) => (await call('POST', '/api/sessions', { ...bob, body })).body
  const talks = {
    mia: await session({ persona: 'Mia' }),
    leo: await session({ persona: 'Leo' }),
    bare: await session({}),
  }
  const { secret: token } = await key(bob, { scopes: ['chat', 'personas', 'memory'], personas: ['Mia'] })
  const status = async (method: string, path: string, body?: object) =>
    (await call(method, path, { token, ...(body && { body }) })).status

  assert.equal(pluck((await call('GET', '/api/personas', { token })).body.personas, 'id'), [mia.id])
  const memory = { content: 'The cat is afraid of thunder' }
  assert.is(await status('POST', `/api/personas/${mia.id}/memory`, memory), 201)
  for (const id of [leo.id, 'Leo']) {
    for (const { method, path } of routes.filter((route) => route.path.startsWith('/api/personas/:id'))) {
      const filled = path.replace(':id', id).replace(/:\w+/g, 'nope')
      assert.is(await status(method, filled, method === 'GET' ? undefined : {}), 403, `${method} ${filled}`)
    }
  }
  assert.is(await status('POST', '/api/personas', { name: 'New', model: 'm' }), 403)
  assert.is(await status('POST', '/api/personas/import', {}), 403)

  assert.is(await status('GET', `/api/sessions/${talks.mia.id}`), 200)
  for (const { id } of [talks.leo, talks.bare])
    for (const [method, body] of [['GET'], ['PUT', { name: 'mine' }], ['DELETE']] as const)
      assert.is(await status(method, `/api/sessions/${id}`, body), 403)
  const listed = await call('GET', '/api/sessions', { token })
  assert.equal([listed.body.total, listed.body.sessions[0].id], [1, talks.mia.id])
  assert.is((await call('GET', '/api/sessions?persona=Mia', { token })).body.total, 1)
  assert.is(await status('GET', '/api/sessions?persona=Leo'), 403)
  for (const body of [{}, { persona: 'Leo' }, { name: talks.leo.name, persona: 'Mia', reuse: true }])
    assert.is(await status('POST', '/api/sessions', body), 403, JSON.stringify(body))

  const messages = [{ role: 'user', content: 'Hi' }]
  for (const path of ['/api/chat', '/api/chat/preview']) {
    assert.is(await status('POST', path, { messages, persona: 'Mia' }), 200)
    assert.is(await status('POST', path, { messages, persona: 'Mia', session: talks.mia.id }), 200)
    for (const who of [
      { persona: 'Leo' },
      { session: talks.leo.id },
      { session: talks.bare.id },
      { persona: 'Mia', session: talks.leo.id },
      { persona: 'Leo', session: talks.mia.id },
    ]) {
      const answer = await call('POST', path, { token, body: { messages, ...who } })
      assert.equal([answer.status, answer.body.code], [403, 'key_scope'], JSON.stringify(who))
      assert.not(JSON.stringify(answer.body).includes('I am Leo'))
    }
  }
})

test('a key without the scope of personas chats with those that it names, and with no other', async () => {
  await using daemon = await openKeyDaemon({ provider: (_, response) => json(response, 200, completion('Hello')) })
  const { call, key, bob } = daemon
  for (const name of ['Mia', 'Leo']) await call('POST', '/api/personas', { ...bob, body: { name, model: 'm-one' } })
  const plain = await key(bob)
  const bot = await key(bob, { scopes: ['chat'], personas: ['Mia'] })
  const status = async (token: string, more: object) =>
    (await call('POST', '/api/chat', { token, body: { messages: [{ role: 'user', content: 'Hi' }], ...more } })).status
  assert.equal(
    [await status(plain.secret, { model: 'm-one' }), await status(plain.secret, { persona: 'Mia' })],
    [200, 403],
  )
  assert.equal([await status(bot.secret, { persona: 'Mia' }), await status(bot.secret, { persona: 'Leo' })], [200, 403])
  assert.is((await call('GET', '/api/personas', { token: bot.secret })).status, 403)
})

test('the personas of a key are its owner’s, by id, also under a new name', () =>
  withKeyDaemon(async ({ call, key, ada, bob }) => {
    const { body: his } = await call('POST', '/api/personas', { ...bob, body: { name: 'Mia', model: 'm' } })
    const { body: hers } = await call('POST', '/api/personas', { ...ada, body: { name: 'Mia', model: 'm' } })
    for (const name of [hers.id])
      assert.is((await call('POST', '/api/keys', { ...bob, body: { personas: [name] } })).status, 400)
    const { id, secret } = await key(ada, { user_id: bob.id, personas: ['Mia'], scopes: ['personas'] })
    assert.equal((await call('GET', `/api/keys/${id}`, bob)).body.personas, [his.id])
    await call('PUT', `/api/personas/${his.id}`, { ...bob, body: { name: 'Eva' } })
    assert.is((await call('GET', '/api/personas/Eva', { token: secret })).status, 200)
    await call('PUT', `/api/keys/${id}`, { ...bob, body: { personas: null } })
    assert.is((await call('GET', '/api/personas', { token: secret })).status, 200)
  }))

test.run()

function decisionOn(route: string): Decision {
  const found = contract.find(([pattern]) => pattern.test(route))
  if (!found) throw new Error(`${route} stands in no line of the contract`)
  return found[1]
}

/** Asks a route in a way that does nothing: its body is no object, which is refused after the guards. */
function probe(daemon: KeyDaemon, { method, path }: { method: string; path: string }, token: string) {
  const filled = path.replaceAll(/\*\*:\w+|:\w+/g, 'nope')
  return daemon.call(method, filled, { token, ...(method !== 'GET' && { body: '"nothing"' }) })
}
