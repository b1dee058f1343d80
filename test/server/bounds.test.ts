// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { mostDetails } from '../../src/errors.ts'
import { requestBounds } from '../../src/formats/json/meter.ts'
import { operations } from '../../src/operations/table.ts'
import { packageLimits } from '../../src/personas/package/format.ts'
import { openApi } from '../../src/server/openapi.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { json as answer, completion, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what one request may hold')
const json = { 'content-type': 'application/json' }
const MiB = 1024 * 1024
/** An answer to a hostile request is short: twenty lines and a count. */
const longestAnswer = 16 * 1024

const chatRoutes = [
  '/api/chat',
  '/api/chat/preview',
  '/api/chat/tokens',
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
]

test('every list and record of every operation is bounded, and the OpenAPI document shows how', () => {
  const unbounded = operations.flatMap(({ name, input }) => unboundedIn(input, name))
  assert.equal(unbounded, [])
  const shown = openListsIn(openApi(operations, '0'))
  assert.equal(shown, [])
})

test('a list that is too long is refused before its elements are looked at', () => {
  for (const { name, input } of operations)
    for (const { path, schema, most } of listsIn(input, name)) {
      let looked = 0
      const look = () => {
        looked++
        return undefined
      }
      const element = new Proxy({}, { get: look, getPrototypeOf: () => look() ?? null })
      const { success, error } = schema.safeParse(Array.from({ length: most + 1 }, () => element))
      assert.not(success, path)
      assert.is(error!.issues.length, 1, path)
      assert.is(looked, 0, path)
    }
})

test('the bytes of a body are bounded for every operation, and what is larger than a mebibyte is named here', () => {
  const larger = Object.fromEntries(
    operations.filter(({ limit = MiB }) => limit > MiB).map(({ name, limit }) => [name, limit! / MiB]),
  )
  const { 'personas.restore': restore, 'personas.import': importing, 'personas.verify': verify, ...others } = larger
  const large = { 'chat.complete': 32, 'chat.preview': 32, 'chat.tokens': 32, 'memories.addBatch': 32 }
  assert.equal(others, {
    ...large,
    'speech.clone': 32,
    'sessions.append': 32,
    'documents.read': 32,
  })
  // Packages go to a file as they come, and never into memory as a whole.
  for (const each of [restore, importing, verify]) assert.is(each, packageLimits.bytes / MiB)
  for (const { name, upload } of operations) if (upload?.as === 'stream') assert.ok(name in larger, name)
})

for (const path of chatRoutes)
  test(`a million wrong values to ${path} are one short refusal`, () =>
    withServer(async (url) => {
      for (const body of [
        `{"model":"m","max_tokens":1,"messages":[${'0,'.repeat(MiB / 2 - 30)}0]}`,
        `{"model":"m","max_tokens":1,"messages":[${'{"role":1},'.repeat(100_000)}0]}`,
        `{"model":"m","max_tokens":1,"messages":[${'0,'.repeat(40_000)}0]}`,
        `{"model":"m","max_tokens":1,"messages":[${'{"role":"user","content":[0]},'.repeat(4_900)}0]}`,
        `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[${'0,'.repeat(40_000)}0]}]}`,
        `{"model":"m","max_tokens":1,"tools":[${'0,'.repeat(40_000)}0],"messages":[{"role":"user","content":"x"}]}`,
      ]) {
        const { status, text } = await post(url, path, body)
        assert.ok([400, 413].includes(status), `${status} for ${body.slice(0, 80)}: ${text.slice(0, 200)}`)
        assert.ok(text.length < longestAnswer, `${text.length} for ${body.slice(0, 80)}`)
      }
    }))

test('a body with too many values is refused while it comes: a megabyte of thirty is enough', () =>
  withServer(async (url) => {
    const piece = Buffer.from('{"role":1},'.repeat(6000))
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(sent === 0 ? Buffer.from('{"messages":[') : piece)
        sent += piece.length
        if (sent > 31 * MiB) controller.close()
      },
    })
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit)
    assert.is(response.status, 413)
    assert.match(await response.text(), /more than 50000 values/)
    assert.ok(sent < 16 * MiB, `${sent} bytes were taken`)
  }))

test('at most twenty details are told, and the rest as a count', () =>
  withServer(async (url) => {
    const { status, text } = await post(url, '/api/chat', JSON.stringify({ messages: Array(1000).fill(0) }))
    assert.is(status, 400)
    const { details } = JSON.parse(text) as { details: string[] }
    assert.is(details.length, mostDetails)
    assert.is(details.at(-1), `messages: the items from ${mostDetails - 1} on were not verified`)
    const plugin = { ...pluginAt('http://127.0.0.1:9'), model_map: Array(500).fill('..') }
    const refused = JSON.parse((await post(url, '/api/plugins/install', JSON.stringify(plugin))).text) as {
      details: string[]
    }
    assert.is(refused.details.length, mostDetails + 1)
  }))

test.whole('a name that comes back in a failure does not come back at any length', () =>
  withServer(async (url) => {
    const long = 'x'.repeat(900_000)
    for (const [path, body] of [
      ['/api/chat', { plugin: long, messages: [{ role: 'user', content: 'x' }] }],
      ['/api/chat', { persona: long, messages: [{ role: 'user', content: 'x' }] }],
      ['/api/chat', { messages: [{ role: 'user', content: 'x', [long]: 1 }], [long]: 0, stream: 'no' }],
      ['/api/models/restore', { plugin: long }],
      ['/api/sessions', { persona: long }],
    ] as const) {
      const { status, text } = await post(url, path, JSON.stringify(body))
      assert.ok(status >= 400 && status < 600, `${path}: ${status}`)
      assert.ok(text.length < longestAnswer, `${path}: ${text.length}`)
    }
  }),
)

test('a chat may have so much text, in one message or in many, and pictures beside it', async () => {
  await using installation = openInstallation({ AICHAT_LIMIT_CHAT_TEXT: '1000' })
  const url = await installation.serve()
  const url_data = `data:image/png;base64,${'iVBORw0K'.repeat(1000)}`
  for (const path of chatRoutes) {
    const picture = path.startsWith('/v1/messages')
      ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: url_data.slice(22) } }
      : { type: 'image_url', image_url: { url: url_data } }
    const ask = async (messages: unknown) => post(url, path, JSON.stringify({ model: 'm', max_tokens: 1, messages }))
    const user = (content: unknown) => ({ role: 'user', content })
    for (const messages of [
      [user('x'.repeat(1001))],
      [user('x'.repeat(600)), { role: 'assistant', content: 'y' }, user('z'.repeat(400))],
      [user([{ type: 'text', text: 'x'.repeat(1001) }, picture])],
    ]) {
      const { status, text } = await ask(messages)
      assert.is(status, 413, `${path}: ${text}`)
      assert.match(text, /more than 1000 characters of text/)
      assert.match(text, /limits\.chat_text|Leave out/)
    }
    const { status, text } = await ask([user([{ type: 'text', text: 'x'.repeat(900) }, picture])])
    assert.is(status, path.endsWith('tokens') ? 200 : 503, text)
  }
})

test.whole('a picture of 31 MiB still reaches the provider, byte for byte', async () => {
  await using provider = await openStandIn((_, response) => answer(response, 200, completion('Seen', 'custom-model')))
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456' })
  await installation.app.plugins.install(pluginAt(provider.url))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const picture = `data:image/png;base64,${'iVBORw0K'.repeat((31 * MiB) / 8 - 100)}`
  const content = [
    { type: 'text', text: 'Что это? 这是什么？' },
    { type: 'image_url', image_url: { url: picture } },
  ]
  const { status, text } = await post(
    url,
    '/v1/chat/completions',
    JSON.stringify({ model: 'custom-model', messages: [{ role: 'user', content }] }),
  )
  assert.is(status, 200, text.slice(0, 300))
  assert.equal(JSON.parse(provider.received[0]!.body).messages[0].content, content)
})

test('just at the bounds of values and names a request is judged by what it says', () =>
  withServer(async (url) => {
    const at = (values: number) => {
      // The object, its messages, a message with two fields, and the list: six values before those that fill it.
      const filling = values - 6
      const lists = Array.from({ length: Math.ceil(filling / 1000) }, (_, at) =>
        Array(Math.min(1000, filling - at * 1000) - 1).fill(0),
      )
      return JSON.stringify({ messages: [{ role: 'user', content: 'x' }], list: lists })
    }
    assert.is((await post(url, '/api/chat/preview', at(requestBounds.values + 1))).status, 413)
    assert.is((await post(url, '/api/chat/preview', at(requestBounds.values))).status, 503)
    const named = (names: number) => {
      const fields = Object.fromEntries(Array.from({ length: names - 1 }, (_, index) => [`f${index}`, 0]))
      return JSON.stringify({ messages: [{ role: 'user', content: 'x' }], ...fields })
    }
    assert.is((await post(url, '/api/chat/preview', named(requestBounds.names + 1))).status, 413)
    assert.is((await post(url, '/api/chat/preview', named(requestBounds.names))).status, 503)
  }))

test('a form has few parts, and a million of them are refused', () =>
  withServer(async (url) => {
    const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'
    const form = `${part.repeat(8000)}--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const { status, text } = await post(url, '/api/plugins/upload', form, headers)
    assert.is(status, 400)
    assert.match(text, /more than 32 parts/)
  }))

test.run()

async function withServer(run: (url: string) => Promise<void>): Promise<void> {
  await using installation = openInstallation()
  await run(await installation.serve())
}

async function post(url: string, path: string, body: string, headers: Record<string, string> = json) {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

interface List {
  readonly path: string
  readonly schema: z.ZodType
  /** Infinity where nothing bounds it. */
  readonly most: number
}

/** The parts of zod's definitions that lead to other schemas. */
interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly options?: readonly z.ZodType[]
  readonly element?: z.ZodType
  readonly valueType?: z.ZodType
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly getter?: () => z.ZodType
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly maximum?: number } }
  }[]
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition
}

function innerOf(schema: z.ZodType): readonly (readonly [string, z.ZodType])[] {
  const { type, shape = {}, options = [], ...rest } = definitionOf(schema)
  if (type === 'lazy') throw new Error('a schema that holds itself has no bound')
  return [
    ...Object.entries(shape).map(([name, inner]) => [`.${name}`, inner] as const),
    ...options.map((inner) => ['|', inner] as const),
    ...[rest.element, rest.valueType].filter((inner) => inner !== undefined).map((inner) => ['[]', inner] as const),
    ...[rest.innerType, rest.in, rest.out].filter((inner) => inner !== undefined).map((inner) => ['', inner] as const),
  ]
}

function listsIn(schema: z.ZodType, path: string): readonly List[] {
  const { type, checks = [] } = definitionOf(schema)
  const most = checks.find(({ _zod }) => _zod.def.check === 'max_length')?._zod.def.maximum ?? Number.POSITIVE_INFINITY
  const own = type === 'array' ? [{ path, schema, most }] : []
  return [...own, ...innerOf(schema).flatMap(([name, inner]) => listsIn(inner, path + name))]
}

function unboundedIn(schema: z.ZodType, path: string): readonly string[] {
  const lists = listsIn(schema, path).filter(({ most }) => !Number.isFinite(most))
  return [...lists.map((list) => list.path), ...recordsIn(schema, path)]
}

/** Records that take more names than they say, or say no number. */
function recordsIn(schema: z.ZodType, path: string): readonly string[] {
  const most = z.globalRegistry.get(schema)?.['maxProperties']
  let isFine = definitionOf(schema).type !== 'record'
  if (typeof most === 'number') {
    const many = Object.fromEntries(Array.from({ length: most + 1 }, (_, index) => [`name${index}`, Symbol('never')]))
    isFine = schema.safeParse(many).error?.issues.length === 1
  }
  return [...(isFine ? [] : [path]), ...innerOf(schema).flatMap(([name, inner]) => recordsIn(inner, path + name))]
}

/** The lists in request bodies of an OpenAPI document that show no bound. */
function openListsIn(document: unknown, path = '', inBody = false): readonly string[] {
  if (typeof document !== 'object' || document === null) return []
  const fields = document as Record<string, unknown>
  const own = inBody && fields['type'] === 'array' && typeof fields['maxItems'] !== 'number' ? [path] : []
  return [
    ...own,
    ...Object.entries(fields).flatMap(([name, value]) =>
      openListsIn(value, `${path}/${name}`, inBody || name === 'requestBody'),
    ),
  ]
}
