import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { withDaemon } from '../helpers/program/daemon.ts'
import { withUsers } from '../helpers/program/user-daemon.ts'
import { json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('personas over HTTP')

test('a persona of two fields has every default, and the address where it is', () =>
  withUsers(async ({ ada }) => {
    const created = await ada('POST', '/api/personas', { name: ' Mia ', model: 'gpt-4o' })
    assert.is(created.status, 201)
    const { id, created_at, updated_at, ...rest } = created.body
    assert.equal(rest, {
      user_id: 'ada-1',
      name: 'Mia',
      model: 'gpt-4o',
      parameters: {},
      memory_settings: {
        enabled: false,
        max_memories: 1000,
        auto_cleanup: true,
        retention_days: 90,
        min_score: 0.15,
        extract: 'off',
        extract_min_confidence: 0.8,
        placement: 'end',
        profile_tokens: 400,
        forget: 'ask',
      },
      mutation_settings: { enabled: false, sensitivity: 'medium', auto_adapt: false },
    })
    assert.ok(Number.isInteger(created_at) && created_at === updated_at)
    assert.equal((await ada('GET', `/api/personas/${id}`)).body, created.body)
    assert.equal((await ada('GET', '/api/personas/Mia')).body, created.body, 'a name of one persona will do')
    assert.equal((await ada('GET', '/api/personas')).body, { personas: [created.body] })
  }))

test('all fields are kept as they were given', () =>
  withUsers(async ({ ada }) => {
    const given = {
      name: 'Mia 美雅 🎭',
      model: 'custom:custom-model',
      description: 'A friend.\nWith two lines.',
      system_prompt: 'You are "Mia".\u0000 \u{1F680}',
      parameters: { temperature: 0, top_p: 1, max_tokens: 9, stop: ['x'], logit_bias: { 5: -1 }, seed: 7 },
      embedding_model: 'builtin',
      memory_settings: {
        enabled: true,
        max_memories: 1,
        auto_cleanup: false,
        retention_days: 36_500,
        min_score: 0.9,
        extract: 'auto',
        extract_min_confidence: 1,
        placement: 'system',
        profile_tokens: 400,
        forget: 'ask',
      },
      mutation_settings: { enabled: true, sensitivity: 'high', auto_adapt: true },
    }
    const { status, body } = await ada('POST', '/api/personas', given)
    assert.is(status, 201)
    const { id } = body
    for (const shown of [body, (await ada('GET', `/api/personas/${id}`)).body]) {
      const { id: _id, user_id: _user, created_at: _created, updated_at: _updated, ...fields } = shown
      assert.equal(fields, given)
    }
  }))

test('a change leaves what it does not name, merges settings and removes what it sets to null', () =>
  withUsers(async ({ ada, persona }) => {
    const path = await persona({
      description: 'old',
      system_prompt: 'Be kind.',
      parameters: { temperature: 1 },
      memory_settings: { enabled: true, max_memories: 5 },
      mutation_settings: { sensitivity: 'low' },
    })
    const changed = await ada('PUT', path, {
      name: 'Nia',
      description: null,
      memory_settings: { retention_days: 7 },
      mutation_settings: { enabled: false },
    })
    assert.equal([changed.status, changed.body.name, changed.body.system_prompt], [200, 'Nia', 'Be kind.'])
    assert.not.ok('description' in changed.body)
    assert.equal(changed.body.parameters, { temperature: 1 })
    assert.equal(changed.body.memory_settings, {
      enabled: true,
      max_memories: 5,
      auto_cleanup: true,
      retention_days: 7,
      min_score: 0.15,
      extract: 'off',
      extract_min_confidence: 0.8,
      placement: 'end',
      profile_tokens: 400,
      forget: 'ask',
    })
    assert.equal(changed.body.mutation_settings, { enabled: false, sensitivity: 'low', auto_adapt: false })
    assert.ok(changed.body.updated_at >= changed.body.created_at)
    const reset = await ada('PUT', path, { memory_settings: null, parameters: {}, embedding_model: null })
    assert.equal(reset.body.memory_settings, {
      enabled: false,
      max_memories: 1000,
      auto_cleanup: true,
      retention_days: 90,
      min_score: 0.15,
      extract: 'off',
      extract_min_confidence: 0.8,
      placement: 'end',
      profile_tokens: 400,
      forget: 'ask',
    })
    assert.equal(reset.body.parameters, {})
    assert.equal((await ada('GET', path)).body, reset.body)
    assert.equal((await ada('PUT', path, {})).status, 200)
  }))

test('a change that waits for the runner takes back nothing that was changed meanwhile', () => {
  const [asked, answered] = [signal(), signal()]
  return withUsers(
    async ({ ada, persona }) => {
      const path = await persona({ memory_settings: { max_memories: 5 } })
      let isDone = false
      const waiting = ada('PUT', path, { embedding_model: 'bge-m3', memory_settings: { enabled: true } }).finally(
        () => {
          isDone = true
        },
      )
      await asked.given
      const meanwhile = { name: 'Nia', memory_settings: { max_memories: 7 } }
      assert.is((await ada('PUT', path, meanwhile)).status, 200)
      assert.is(isDone, false, 'the first change was still waiting')
      answered.give()
      assert.is((await waiting).status, 200)
      const { body } = await ada('GET', path)
      assert.equal([body.name, body.embedding_model], ['Nia', 'bge-m3'])
      assert.equal([body.memory_settings.enabled, body.memory_settings.max_memories], [true, 7])
    },
    {
      async runner({ url }, response) {
        asked.give()
        await answered.given
        json(response, url === '/api/tags' ? 200 : 404, { models: [{ name: 'bge-m3:latest' }] })
      },
    },
  )
})

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}

test('everything that is wrong with a persona is named at once', () =>
  withUsers(async ({ ada, persona }) => {
    const wrong = {
      name: '  ',
      description: 7,
      system_prompt: 'x'.repeat(100_001),
      parameters: { temperature: 3, max_tokens: 0, messages: [] },
      embedding_model: '',
      memory_settings: { enabled: 'yes', max_memories: 0, auto_cleanup: 1, retention_days: 1.5, min_score: 2 },
      mutation_settings: { sensitivity: 'extreme' },
    }
    const created = await ada('POST', '/api/personas', wrong)
    assert.is(created.status, 400)
    assert.is(typeof created.body.error, 'string')
    assert.is(created.body.code, 'invalid')
    const named = (details: readonly string[]) => details.map((line) => line.split(':')[0]).sort()
    const fields = [
      'description',
      'embedding_model',
      'memory_settings.auto_cleanup',
      'memory_settings.enabled',
      'memory_settings.max_memories',
      'memory_settings.min_score',
      'memory_settings.retention_days',
      'mutation_settings.sensitivity',
      'name',
      'parameters',
      'parameters.max_tokens',
      'parameters.temperature',
      'system_prompt',
    ]
    assert.equal(named(created.body.details), [...fields, 'model'].sort())
    const changed = await ada('PUT', await persona(), wrong)
    assert.equal([changed.status, named(changed.body.details)], [400, fields])
    for (const body of ['[]', '"x"', '7', '{', '{"name":"a","model":"m","parameters":{"__proto__":{"x":1}}}']) {
      assert.is((await ada('POST', '/api/personas', body)).status, 400, body)
    }
    assert.is(
      (await ada('POST', '/api/personas', { name: 'a', model: 'm', description: 'x'.repeat(2 ** 20) })).status,
      413,
    )
    assert.is((await ada('GET', '/api/personas')).body.personas.length, 1)
  }))

test('an embedding model that is not installed is refused with the command that installs it', () =>
  withUsers(async ({ ada, persona }) => {
    const refused = await ada('POST', '/api/personas', { name: 'a', model: 'm', embedding_model: 'bge-m3' })
    assert.is(refused.status, 400)
    assert.match(refused.body.error, 'bge-m3')
    assert.ok(refused.body.details.includes('Install it: ollama pull bge-m3'))
    const path = await persona()
    const minilm = await ada('PUT', path, { embedding_model: 'minilm' })
    assert.is(minilm.status, 400)
    assert.ok(minilm.body.details.some((line: string) => line.includes('aichat models pull minilm')))
    assert.not.ok('embedding_model' in (await ada('GET', path)).body)
  }))

test('a persona belongs to its user alone, and nobody learns more of it', () =>
  withUsers(async ({ ada, bob, persona }) => {
    const path = await persona()
    const calls = [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/memory'],
      ['POST', '/memory'],
      ['DELETE', '/memory'],
      ['POST', '/memory/search'],
      ['GET', '/memory/categories'],
      ['GET', '/memory/evictions'],
      ['GET', '/state'],
      ['POST', '/state/adaptation'],
      ['POST', '/backup'],
      ['GET', '/backups'],
      ['POST', '/restore'],
      ['POST', '/export'],
      ['POST', '/verify'],
    ] as const
    // The refusal comes before validation messages about the body.
    for (const [method, rest] of calls) {
      const body = method === 'POST' || method === 'PUT' ? { importance_score: 'x', name: 7 } : undefined
      const strangers = await bob(method, path + rest, body)
      assert.equal([strangers.status, strangers.body.code], [403, 'forbidden'], `${method} ${rest}`)
      const absent = await bob(method, `/api/personas/nobody${rest}`, body)
      assert.equal([absent.status, absent.body.code], [404, 'not_found'], `${method} ${rest}`)
    }
    // An administrator is a user like any other here.
    const bobs = await bob('POST', '/api/personas', { name: 'His', model: 'm' })
    assert.is((await ada('GET', `/api/personas/${bobs.body.id}`)).status, 403)
    assert.is((await ada('GET', '/api/personas/His')).status, 404, 'a name is looked up among one’s own')
    assert.equal(pluck((await ada('GET', '/api/personas')).body.personas, 'name'), ['Mia'])
    assert.is((await ada('GET', path)).status, 200)
  }))

test('nobody chooses an id or an owner for what they store', () =>
  withUsers(async ({ ada, bob, persona }) => {
    const [adas] = [(await persona()).split('/').at(-1)!]
    const claim = { id: adas, user_id: 'ada-1', created_at: 1, updated_at: 1 }
    const his = await bob('POST', '/api/personas', { name: 'His', model: 'm', ...claim })
    assert.is(his.status, 201)
    assert.not.equal(his.body.id, adas)
    assert.is(his.body.user_id, 'bob-2')
    assert.ok(his.body.created_at > 1)
    const path = `/api/personas/${his.body.id}`
    const changed = await bob('PUT', path, { ...his.body, ...claim, name: 'Renamed' })
    assert.equal(
      [changed.status, changed.body.id, changed.body.user_id, changed.body.created_at, changed.body.name],
      [200, his.body.id, 'bob-2', his.body.created_at, 'Renamed'],
    )
    const memory = { content: 'x', persona_id: adas, user_id: 'ada-1', embedding: [1] }
    const refused = await bob('POST', `${path}/memory`, memory)
    assert.is(refused.status, 400)
    for (const field of ['persona_id', 'user_id', 'embedding']) assert.match(refused.body.details.join(), field)
    const stored = await bob('POST', `${path}/memory`, { content: 'x', id: 'chosen' })
    assert.not.equal(stored.body.id, 'chosen')
    assert.is((await ada('GET', `/api/personas/${adas}/memory`)).body.total, 0)
    assert.is((await bob('POST', `${path}/memory`, { content: 'x' })).status, 201)
    for (const claimed of [`id=${adas}`, 'user_id=ada-1'])
      assert.is((await bob('GET', `${path}/memory?${claimed}`)).status, 400, claimed)
    // The path wins over the body.
    assert.is((await bob('POST', `${path}/memory/search`, { query: 'x', id: adas })).body.results.length, 1)
    const session = await bob('POST', '/api/sessions', { name: 'S', user_id: 'ada-1', id: 'chosen' })
    assert.is(session.status, 400)
    assert.is((await bob('POST', '/api/sessions', { name: 'S' })).body.user_id, 'bob-2')
  }))

test('a persona is found by her name in either form of its accents, first as it is written', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('ada')
    const make = async (name: string) =>
      (await call('POST', '/api/personas', { token, body: { name, model: 'm' } })).body.id as string
    const found = async (name: string) =>
      (await call('GET', `/api/personas/${encodeURIComponent(name)}`, { token })).body.id as string | undefined
    const [composed, decomposed] = ['Zo\u00eb', 'Zoe\u0308']
    const first = await make(decomposed)
    assert.equal([await found(composed), await found(decomposed)], [first, first])
    const second = await make(composed)
    assert.equal([await found(composed), await found(decomposed)], [second, first])
    assert.is(await found('Zoe'), undefined)
  }))

test('a name that two personas have asks for an id', () =>
  withUsers(async ({ ada, persona }) => {
    const [one, other] = [await persona(), await persona()]
    const { status, body } = await ada('GET', '/api/personas/Mia')
    assert.is(status, 400)
    assert.equal(
      body.details
        .slice(0, 2)
        .map((line: string) => `/api/personas/${/^use the id (\S+) \(/.exec(line)?.[1]}`)
        .sort(),
      [one, other].sort(),
    )
  }))

test('what is removed is gone with its memories, its state and the files of its backups', () =>
  withUsers(async ({ ada, installation, persona }) => {
    const [path, other] = [await persona(), await persona({ name: 'Stays' })]
    for (const each of [path, other]) {
      await ada('POST', `${each}/memory`, { content: 'The safe is behind the zebra picture.' })
      const change = {
        adaptation_type: 'preference_set',
        trigger_event: 'user_edit',
        changes: [{ preference: 'a', value: 1 }],
      }
      assert.is((await ada('POST', `${each}/state/adaptation`, change)).status, 200)
      assert.is((await ada('POST', `${each}/backup`)).status, 201)
    }
    const session = await ada('POST', '/api/sessions', { name: 'Talk', persona: path.split('/').at(-1) })
    assert.is(backups(installation.home).length, 2)
    const removed = await ada('DELETE', path)
    assert.equal([removed.status, removed.body], [200, { id: path.split('/').at(-1), removed: true }])
    for (const rest of ['', '/memory', '/state', '/backups']) assert.is((await ada('GET', path + rest)).status, 404)
    assert.is((await ada('DELETE', path)).status, 404)
    assert.is(backups(installation.home).length, 1)
    const kept = await ada('GET', `/api/sessions/${session.body.id}`)
    assert.equal([kept.status, 'persona_id' in kept.body], [200, false], 'a conversation goes on without its persona')
    assert.is((await ada('GET', `${other}/memory`)).body.total, 1)
    assert.is((await ada('GET', `${other}/backups`)).body.backups.length, 1)
  }))

test('a removed user leaves no file of a backup behind, and a stranger learns nothing', () =>
  withDaemon(async ({ home, call, register }) => {
    const [ada, bob] = [await register('ada'), await register('bob')]
    const { body } = await call('POST', '/api/personas', { token: bob.token, body: { name: 'His', model: 'm' } })
    const path = `/api/personas/${body.id}`
    for (const rest of ['', '/memory', '/state', '/backups']) assert.is((await call('GET', path + rest)).status, 401)
    assert.is((await call('GET', '/api/sessions')).status, 401)
    assert.is((await call('GET', '/api/embeddings/models')).status, 401)
    assert.is((await call('POST', `${path}/backup`, { token: bob.token })).status, 201)
    assert.is(backups(home).length, 1)
    assert.is((await call('DELETE', `/api/users/${bob.user.id}`, { token: ada.token })).status, 200)
    assert.is(backups(home).length, 0)
    assert.is((await call('GET', path, { token: ada.token })).status, 404)
  }))

test.run()

function backups(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.dna.zip'))
}
