// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { operations } from '../../src/operations/table.ts'
import { dialectRoutes } from '../../src/server/dialect-routes.ts'
import { mcpRoutes } from '../../src/server/mcp-routes.ts'
import { openDaemon, type TestDaemon } from '../helpers/program/daemon.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'
import { largest } from './largest.ts'

const test = suite('the OpenAPI document')
let daemon: TestDaemon
let document: Document
test.before(async () => {
  daemon = await openDaemon({ HF_ENDPOINT: 'http://127.0.0.1:9' })
  document = (await daemon.call('GET', '/openapi.json')).body as Document
})
test.after(() => daemon.close())

interface Described {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: unknown }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Readonly<Record<string, unknown>> }>
  >
}

/** One way to ask a route. */
interface Question {
  readonly name: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

/** Every route of the main server: `METHOD path`, with its parameters in OpenAPI's braces. */
const routes = [
  ...operations,
  ...dialectRoutes({} as never, () => ({})),
  ...mcpRoutes({} as never, () => ({})),
  ...['/', '/health', '/ready', '/metrics', '/openapi.json'].map((path) => ({ method: 'GET', path })),
].map(({ method, path }) => ({ method, path: path.replace(/(?:\*\*)?:(\w+)/g, '{$1}') }))

test('it has every route there is, each with its own name, and no other', async () => {
  const { openapi, paths, components } = document
  assert.match(openapi, /^3\.1\.\d$/)
  const shown = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.equal(shown.sort(), routes.map(({ method, path }) => `${method} ${path}`).sort())
  const described = Object.values(paths).flatMap((methods) => Object.values(methods))
  assert.is(new Set(described.map(({ operationId }) => operationId)).size, described.length)
  for (const [path, methods] of Object.entries(paths))
    for (const { operationId, parameters = [], responses } of Object.values(methods)) {
      // OpenAPI 3.1: each name in a path is a required parameter, a name stands once in a place, answers are described.
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      assert.equal(inPath.sort(), [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort(), operationId)
      assert.is(new Set(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).size, parameters.length)
      for (const parameter of parameters) assert.ok(parameter.schema, `${operationId} ${parameter.name}`)
      for (const [status, { description }] of Object.entries(responses)) {
        assert.match(status, /^[1-5]\d\d$/)
        assert.type(description, 'string', `${operationId} ${status}`)
      }
    }
  for (const [, name] of JSON.stringify(paths).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    assert.ok(components.schemas[name!], name)
  assert.not.match(JSON.stringify(paths), /"\$ref":"(?!#\/components\/)/)
})

test.whole('every status and media type that a route answers with is in it, however it is asked', async () => {
  const { paths } = document
  const admin = await daemon.register('admin')
  const user = await daemon.register('ada')
  const ids = await things(admin.token, user.token)
  const seen = new Map<string, Set<number>>()
  const problems: string[] = []
  for (const [place, { method, path }] of inOrder().entries())
    for (const asked of some(questions(method, path), place)) {
      const url = `${daemon.url}${asked.path}`
      const response = await fetch(url, {
        method,
        headers: asked.headers,
        ...(asked.body !== undefined && { body: asked.body }),
      })
      await response.arrayBuffer()
      const type = response.headers.get('content-type')?.split(';')[0] ?? ''
      const route = `${method} ${path}`
      seen.set(route, (seen.get(route) ?? new Set()).add(response.status))
      const answer = paths[path]?.[method.toLowerCase()]?.responses[String(response.status)]
      if (!answer) problems.push(`${route}: ${response.status} (${asked.name})`)
      else if (!(type in answer.content)) problems.push(`${route}: ${response.status} ${type} (${asked.name})`)
    }
  assert.equal([...new Set(problems)], [])
  const all = new Set([...seen.values()].flatMap((statuses) => [...statuses]))
  for (const status of [200, 201, 400, 401, 403, 404, 413, 415, 429, 503])
    assert.ok(all.has(status), `${status} was not seen`)

  /** All questions in a whole run; else every sixth, from another one on for each route. */
  function some(all: readonly Question[], place: number) {
    return all.filter(({ name }, at) => isWholeRun || name === 'with a wrong password' || (at + place) % 6 === 0)
  }

  /** Removals last but one, routes that end a login last. */
  function inOrder() {
    const rank = ({ method, path }: { method: string; path: string }) =>
      path.startsWith('/api/auth/') ? 2 : method === 'DELETE' ? 1 : 0
    return [...routes].sort((a, b) => rank(a) - rank(b))
  }

  function questions(method: string, path: string): readonly Question[] {
    const operation = operations.find((each) => each.method === method && each.path.replace(/:(\w+)/g, '{$1}') === path)
    const known = path
      .replace('/personas/{id}', `/personas/${ids.persona}`)
      .replace('/sessions/{id}', `/sessions/${ids.session}`)
      .replace('/users/{id}', `/users/${ids.user}`)
      .replace('/plugins/{id}', '/plugins/openai')
      .replace(/\{\w+\}/g, 'openai')
    const unknown = path.replace(/\{\w+\}/g, 'nothing')
    const foreign = path.replace(/\{\w+\}/g, ids.foreign)
    const as = (token: string, more: Record<string, string> = {}) => ({
      authorization: `Bearer ${token}`,
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
      ...more,
    })
    const bodies = (name: string, body: string, more: Record<string, string> = {}) => ({
      name,
      path: known,
      headers: as(admin.token, more),
      ...(method !== 'GET' && { body }),
    })
    const value = operation && (largest(operation.input, 200, 'plain') as Record<string, unknown>)
    const fitting = JSON.stringify(operation?.bodyField ? value![operation.bodyField] : (value ?? {}))
    const chat = JSON.stringify({ model: 'x', max_tokens: 1, input: 'Hi.', messages: [{ role: 'user', content: 'x' }] })
    const form = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n{}\r\n--b--\r\n'
    return [
      { name: 'by nobody', path: known, headers: {} },
      { name: 'with a bad token', path: known, headers: as('x') },
      { name: 'by a user', path: foreign, headers: as(user.token), ...(method !== 'GET' && { body: fitting }) },
      { name: 'of nothing', path: unknown, headers: as(admin.token), ...(method !== 'GET' && { body: fitting }) },
      { name: 'from another site', path: known, headers: as(admin.token, { origin: 'https://evil.example' }) },
      { name: 'under another query', path: `${known}?plugin=nothing&limit=-1&type=zzz`, headers: as(admin.token) },
      ...(method === 'GET' ? [{ name: 'well', path: known, headers: as(admin.token) }] : []),
      ...(method === 'GET'
        ? []
        : [
            bodies('without sense', '{"a":1}'),
            bodies('with no JSON', '{'),
            bodies('in another type', fitting, { 'content-type': 'text/plain' }),
            bodies('in a form', form, { 'content-type': 'multipart/form-data; boundary=b' }),
            bodies('with too much', `[${'0,'.repeat(60_000)}0]`),
            bodies('well', fitting),
            bodies('as a chat', chat),
            { name: 'with nothing', path: known, headers: as(admin.token) },
          ]),
      ...(path.endsWith('/export') && method === 'POST'
        ? ['container', 'card', 'card_png'].map((format) => bodies(`as ${format}`, JSON.stringify({ format })))
        : []),
      ...(path === '/api/auth/login'
        ? Array.from({ length: 7 }, () => bodies('with a wrong password', '{"username":"ada","password":"x"}'))
        : []),
    ]
  }
})

test('the body that installs or replaces a plugin has the schema of a plugin document', async () => {
  const { paths, components } = document
  for (const { requestBody } of [paths['/api/plugins/install']!['post']!, paths['/api/plugins/{id}']!['put']!])
    assert.equal(requestBody!.content['application/json'], { schema: { $ref: '#/components/schemas/Plugin' } })
  const { required, properties } = components.schemas['Plugin'] as { required: string[]; properties: object }
  assert.equal(required.sort(), ['auth', 'endpoint', 'id', 'model_map', 'name', 'type'])
  assert.ok('models_source' in properties && 'quirks' in properties)
})

test('no JSON body is documented as any object', async () => {
  const { paths } = document
  const empty = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const { schema } = (requestBody?.content['application/json'] ?? {}) as { schema?: Record<string, unknown> }
      const isNamed = !schema || '$ref' in schema || Object.keys(schema['properties'] ?? {}).length > 0
      return isNamed ? [] : [`${method} ${path}`]
    }),
  )
  // A package is checked by its own reader, which also takes forms that are no JSON.
  assert.equal(empty.sort(), [
    'post /api/personas/import',
    'post /api/personas/{id}/restore',
    'post /api/personas/{id}/verify',
  ])
})

test.run()

/** A resource of each kind in a path: of the administrator, and a persona of another user. */
async function things(admin: string, user: string) {
  const made = async (token: string, path: string, body: object) =>
    ((await daemon.call('POST', path, { token, body })).body as { id: string }).id
  return {
    persona: await made(admin, '/api/personas', { name: 'P', model: 'm' }),
    session: await made(admin, '/api/sessions', { name: 'S' }),
    user: await made(admin, '/api/users', { username: 'bob', password: 'Passw0rd' }),
    foreign: await made(user, '/api/personas', { name: 'Q', model: 'm' }),
  }
}
