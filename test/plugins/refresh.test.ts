import { EventEmitter, once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readWireError } from '../../src/chat/dialects/shared/wire-error.ts'
import { openHttpClient } from '../../src/http-client/agent.ts'
import { createPluginHost, type PluginHost } from '../../src/plugins/host.ts'
import { createKeys } from '../../src/plugins/keys.ts'
import { createListing } from '../../src/plugins/listing.ts'
import { createModelLists, type ModelLists, type RefreshRequest, type RefreshRow } from '../../src/plugins/refresh.ts'
import { openPluginFiles } from '../../src/storage/files/plugins.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { fc } from '../helpers/properties.ts'
import { json, openStandIn, type Received } from '../helpers/providers/fake-provider.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('refreshing model lists')

const old = ['alpha', 'beta', 'gamma', 'delta']
const key = 'sk-secret-of-the-tests'

/** A plugin with four models and the list of a fake provider. */
function listed(url: string, source: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'custom',
    name: 'Custom',
    type: 'completion',
    endpoint: `${url}/v1/chat/completions`,
    auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
    model_map: old,
    models_source: { url: `${url}/v1/models`, ...source },
    // A field of the user's own, unknown to us.
    my_note: { colour: 'green' },
  }
}

type Answer = (request: Received, response: ServerResponse) => void

interface Scene {
  readonly installation: Installation
  readonly lists: ModelLists
  readonly requests: readonly Received[]
  refresh(request?: RefreshRequest): Promise<RefreshRow>
  models(): readonly string[]
  file(name: string): string | undefined
}

/** For providers that answer: milliseconds, more than a busy machine takes. */
const patient = { firstByte: 20_000, idle: 20_000, total: 60_000 }

/** For providers that do not. */
const impatient = { firstByte: 400, idle: 400, total: 1000 }

/** An installation with the plugin above, beside a provider that answers its list as told. */
async function scene(
  answer: Answer,
  run: (scene: Scene) => Promise<void>,
  source?: Record<string, unknown>,
  { firstByte, idle, total }: typeof patient = patient,
) {
  const provider = await openStandIn(answer)
  const installation = openInstallation({ CUSTOM_API_KEY: key })
  const outbound = openHttpClient({ allowPrivate: true })
  try {
    const { app, home } = installation
    await app.plugins.install(listed(provider.url, source))
    const folder = join(home, 'plugins')
    const listing = createListing({
      host: app.plugins,
      keys: app.keys,
      send: outbound.send,
      readError: readWireError,
      timeouts: { connect: 20_000, firstByte, idle },
      totalMs: total,
      now: () => performance.now(),
    })
    const lists = createModelLists({
      listing,
      host: app.plugins,
      store: openPluginFiles(join(home, 'none'), folder),
      clock: () => Date.UTC(2031, 4, 6),
    })
    await run({
      installation,
      lists,
      requests: provider.received,
      refresh: async (request = { plugins: ['custom'] }) => (await rowsOf(lists, request))[0]!,
      models: () => app.plugins.get('custom').model_map,
      file: (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined),
    })
  } finally {
    await outbound.close()
    await installation.close()
    await provider.close()
  }
}

async function rowsOf(lists: ModelLists, request: RefreshRequest): Promise<readonly RefreshRow[]> {
  const rows: RefreshRow[] = []
  for await (const row of lists.refresh(request)) rows.push(row)
  return rows
}

const data = (...names: string[]) => ({ object: 'list', data: names.map((id) => ({ id })) })

test('a sane list replaces the old one, and the file before it is kept', () =>
  scene(
    (_, response) => json(response, 200, data('beta', 'alpha', 'epsilon')),
    async ({ refresh, models, file, requests }) => {
      const before = file('custom.json')
      const row = await refresh()
      assert.equal(row, {
        plugin: 'custom',
        before: 4,
        after: 3,
        added: ['epsilon'],
        removed: ['gamma', 'delta'],
        backup: 'custom.json.backup',
        skipped: null,
        error: null,
        warnings: [],
      })
      // Known models keep their place: the first one is the default.
      assert.equal(models(), ['alpha', 'beta', 'epsilon'])
      assert.is(file('custom.json.backup'), before)
      assert.is(requests[0]!.headers.authorization, `Bearer ${key}`)
    },
  ))

test("a user's own fields survive, and the list gets its date", () =>
  scene(
    (_, response) => json(response, 200, data('alpha', 'beta')),
    async ({ refresh, file }) => {
      await refresh()
      const document = JSON.parse(file('custom.json')!)
      assert.equal(document.my_note, { colour: 'green' })
      assert.is(document.models_as_of, '2031-05-06')
    },
  ))

test('changes made while the provider was asked are kept', () => {
  const asked = new EventEmitter()
  return scene(
    (_, response) => void asked.emit('asked', response),
    async ({ installation, refresh }) => {
      const request = once(asked, 'asked')
      const running = refresh()
      const [response] = (await request) as [ServerResponse]
      const { plugins } = installation.app
      await plugins.update('custom', { ...plugins.export('custom'), description: 'changed meanwhile' })
      json(response, 200, data('alpha', 'beta'))
      await running
      assert.is(plugins.get('custom').description, 'changed meanwhile')
      assert.equal(plugins.get('custom').model_map, ['alpha', 'beta'])
    },
  )
})

test('an unchanged list writes nothing, so that the backup stays the list before the last change', () =>
  scene(
    (_, response) => json(response, 200, data('alpha', 'beta', 'zeta')),
    async ({ refresh, file }) => {
      await refresh()
      const backup = file('custom.json.backup')
      const row = await refresh()
      assert.is(row.backup, null)
      assert.is(file('custom.json.backup'), backup)
      assert.equal(JSON.parse(backup!).model_map, old)
    },
  ))

test('restore goes back to the list before, and forward again', () =>
  scene(
    (_, response) => json(response, 200, data('alpha', 'beta', 'zeta')),
    async ({ refresh, lists, models }) => {
      await refresh()
      const row = await lists.restore('custom')
      assert.equal([row.before, row.after], [3, 4])
      assert.equal(models(), old)
      await lists.restore('custom')
      assert.equal(models(), ['alpha', 'beta', 'zeta'])
    },
  ))

test('restore fails when there is nothing to go back to', () =>
  scene(
    (_, response) => json(response, 200, data('alpha')),
    async ({ lists }) => {
      await rejects(lists.restore('custom'), 'not_found', /Earlier model list/)
    },
  ))

test('a list of half the length passes; a shorter one is refused unless forced', () => {
  let names = ['alpha', 'beta']
  return scene(
    (_, response) => json(response, 200, data(...names)),
    async ({ refresh, models }) => {
      assert.is((await refresh()).error, null)
      names = ['alpha', 'beta', 'c', 'd', 'e']
      await refresh()
      names = ['alpha', 'beta']
      const refused = await refresh()
      assert.match(refused.error!, /would shrink from 5 to 2 models.*--force/)
      assert.is(refused.after, 5)
      assert.is(models().length, 5)
      assert.is((await refresh({ plugins: ['custom'], force: true })).error, null)
      assert.equal(models(), ['alpha', 'beta'])
    },
  )
})

test('a default model that is no longer listed is reported', () =>
  scene(
    (_, response) => json(response, 200, data('beta', 'gamma')),
    async ({ installation, refresh }) => {
      const { plugins } = installation.app
      await plugins.update('custom', { ...plugins.export('custom'), default_model: 'alpha' })
      assert.match((await refresh()).warnings.join(), /default model alpha is no longer listed/)
    },
  ))

const page = '<!doctype html><html><body>Sign in</body></html>'
const whole = JSON.stringify(data('alpha', 'beta', 'gamma', 'delta', 'epsilon'))

const failures: Record<string, readonly [Answer, RegExp]> = {
  'a refused key': [
    (_, response) => json(response, 401, { error: { message: `Incorrect API key: ${key}`, type: 'auth' } }),
    /refused the key \(401\): Incorrect API key: \[key\]; The key is CUSTOM_API_KEY/,
  ],
  'a retired service': [(_, response) => json(response, 410, ''), /gone for good \(410\)/],
  'a web page': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(page)
    },
    /web page instead of a list/,
  ],
  'an error page': [
    (_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' })
      response.end(page)
    },
    /answered 502/,
  ],
  'an empty list': [(_, response) => json(response, 200, data()), /lists no chat model/],
  'a list of other things': [
    (_, response) => json(response, 200, data('text-embedding-9', 'tts-9')),
    /lists no chat model/,
  ],
  'something else': [(_, response) => json(response, 200, { hello: 'world' }), /holds no list at "data"/],
  'an error under a good status': [
    (_, response) => json(response, 200, { error: { message: 'overloaded' } }),
    /answered with an error: overloaded/,
  ],
  'a list cut in half': [
    (_, response) => json(response, 200, whole.slice(0, whole.length / 2)),
    /is not JSON; it ends too early|is not JSON; the fault/,
  ],
  'a connection cut in the middle': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(whole.length) })
      response.write(whole.slice(0, 40), () => response.destroy())
    },
    /could not be asked/,
  ],
  silence: [() => {}, /did not answer in time/],
  'silence in the middle': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(whole.slice(0, 40))
    },
    /did not answer in time/,
  ],
  'a trickle that never ends': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    },
    /did not answer in time/,
  ],
  'a redirect': [
    (_, response) => {
      response.writeHead(302, { location: '/elsewhere' })
      response.end()
    },
    /redirect \(302\), which is never followed/,
  ],
  'a JSON bomb': [(_, response) => json(response, 200, '['.repeat(200_000)), /nested/],
}

for (const [name, [answer, message]] of Object.entries(failures)) {
  test(`${name}: the old list is whole and in use, and the message names the reason`, () =>
    scene(
      answer,
      async ({ refresh, models, file, requests }) => {
        const before = file('custom.json')
        const row = await refresh()
        assert.match(row.error ?? 'no error', message)
        assert.not.match(JSON.stringify(row), key)
        assert.equal([row.before, row.after, row.backup], [4, 4, null])
        assert.equal(models(), old)
        assert.is(file('custom.json'), before)
        assert.is(file('custom.json.backup'), undefined)
        assert.ok(requests.every((request) => request.url.startsWith('/v1/models')))
      },
      { drop: ['embedding|tts'] },
      message.source.includes('in time') ? impatient : patient,
    ))
}

test('an answer of 300 MB is cut off early', () => {
  let sent = 0
  return scene(
    (_, response) => {
      const piece = Buffer.alloc(1024 * 1024, ' ')
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        while (sent < 300 && !response.destroyed) {
          sent++
          if (!response.write(piece)) return void response.once('drain', more)
        }
      }
      more()
    },
    async ({ refresh, models }) => {
      assert.match((await refresh()).error!, /sent more than a list of models can hold: 16 MiB/)
      assert.ok(sent < 40, `${sent} MiB were taken`)
      assert.equal(models(), old)
    },
  )
})

test('pages are followed by the rules of the plugin, up to an empty one', () =>
  scene(
    (request, response) => {
      const at = new URL(request.url, 'http://x').searchParams
      assert.is(at.get('limit'), '2')
      const pages: Record<string, unknown> = {
        '': { data: [{ id: 'alpha' }, { id: 'beta' }], has_more: true, last_id: 'beta' },
        beta: { data: [{ id: 'gamma' }, { id: 'delta' }], has_more: true, last_id: 'delta' },
        delta: { has_more: true, last_id: 'x' },
      }
      json(response, 200, pages[at.get('after_id') ?? ''])
    },
    async ({ refresh, requests }) => {
      const row = await refresh()
      assert.equal([row.error, row.after, requests.length], [null, 4, 3])
    },
    { query: { limit: '2' }, next: { query: 'after_id', field: 'last_id', more: 'has_more' } },
  ))

test('a list that names the same page for ever is refused', () =>
  scene(
    (_, response) => json(response, 200, { ...data('alpha', 'beta'), next: 'again' }),
    async ({ refresh, requests }) => {
      assert.match((await refresh()).error!, /round in circles/)
      assert.is(requests.length, 2)
    },
    { next: { query: 'page', field: 'next' } },
  ))

test('a failure on a later page leaves the old list in use', () =>
  scene(
    (request, response) =>
      request.url.includes('page=') ? json(response, 500, '') : json(response, 200, { ...data('alpha'), next: 'two' }),
    async ({ refresh, models }) => {
      assert.match((await refresh()).error!, /answered 500/)
      assert.equal(models(), old)
    },
    { next: { query: 'page', field: 'next' } },
  ))

test('names that no model can have are left out and counted', () =>
  scene(
    (_, response) => json(response, 200, data('alpha', 'beta', '../../etc/passwd', 'with space', 'gamma')),
    async ({ refresh, models }) => {
      assert.match((await refresh()).warnings.join(), /2 names left out/)
      assert.equal(models(), ['alpha', 'beta', 'gamma'])
    },
  ))

test('curated names alone do not make a list', () =>
  scene(
    (_, response) => json(response, 200, data()),
    async ({ refresh }) => assert.match((await refresh()).error!, /no chat model/),
    { include: ['alpha', 'beta', 'gamma'] },
  ))

test("curated names are merged with the provider's list", () =>
  scene(
    (_, response) => json(response, 200, data('beta', 'omega')),
    async ({ refresh, models }) => {
      await refresh()
      assert.equal(models(), ['alpha', 'beta', 'omega'])
    },
    { include: ['alpha'] },
  ))

test('a plugin without a models_source cannot be refreshed', () =>
  scene(
    (_, response) => json(response, 200, data('alpha')),
    async ({ lists }) => assert.throws(() => lists.plan({ plugins: ['voxa-tts'] }), /with a models_source/),
  ))

test('a first refresh of a bundled plugin keeps the bundled list as its backup', async () => {
  await using provider = await openStandIn((_, response) => json(response, 200, data('alpha', 'omega')))
  const home = temporaryFolder()
  await using outbound = closing(openHttpClient({ allowPrivate: true }))
  mkdirSync(join(home, 'bundled'))
  writeFileSync(join(home, 'bundled', 'custom.json'), JSON.stringify(listed(provider.url)))
  const store = openPluginFiles(join(home, 'bundled'), join(home, 'plugins'))
  const keys = createKeys([{ has: () => true, get: () => key, origin: () => 'environment' }], () => host.keyRules())
  const host: PluginHost = createPluginHost({
    store,
    keys,
    rules: () => ({ keyNames: [], allowPrivate: true, keyHosts: new Map(), limit: 10 }),
  })
  const { send } = outbound
  const { total: totalMs, ...waits } = patient
  const timeouts = { connect: 20_000, ...waits }
  const now = () => performance.now()
  const listing = createListing({ host, keys, send, readError: readWireError, timeouts, totalMs, now })
  const lists = createModelLists({ listing, host, store, clock: Date.now })
  const [row] = await rowsOf(lists, {})
  assert.equal([row!.error, row!.before, row!.after], [null, 4, 2])
  assert.equal(JSON.parse(store.backup('custom')!).model_map, old)
  assert.ok(host.get('custom').overridden)
  await lists.restore('custom')
  assert.equal(host.get('custom').model_map, old)
  assert.not.ok(host.get('custom').overridden)
})

test('a provider that does not answer is named', () =>
  scene(
    () => {},
    async ({ installation, refresh }) => {
      const { plugins } = installation.app
      await plugins.update('custom', {
        ...plugins.export('custom'),
        models_source: { url: 'http://127.0.0.1:9/models' },
      })
      const row = await refresh()
      assert.match(row.error!, /127.0.0.1:9 could not be asked/)
      assert.is(row.code, 'unavailable')
    },
  ))

test('after any answer of a provider the list in use is the old one or the listed one', async () => {
  let body = ''
  await scene(
    (_, response) => json(response, 200, body),
    async ({ refresh, models, file }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            fc.json(),
            fc.array(fc.string(), { maxLength: 6 }).map((ids) => JSON.stringify(data(...ids))),
          ),
          async (text) => {
            body = text
            const before = models()
            const row = await refresh()
            if (row.error !== null) assert.equal(models(), before)
            assert.ok(models().length > 0)
            assert.is(JSON.parse(file('custom.json')!).model_map.length, row.after)
          },
        ),
        { numRuns: 60 },
      )
    },
  )
})

test.run()
