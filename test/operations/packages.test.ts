// Some with --all only: many processes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openReader } from '../../src/storage/sqlite/reader.ts'
import { memoryOf, newFolder, openShop } from '../helpers/personas/persona-shop.ts'
import { pluck } from '../helpers/pluck.ts'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const http = suite('whole personas over HTTP')

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are tested
  readonly body: any
  readonly bytes: Buffer
  readonly headers: Headers
}

let installation: Installation
let url = ''

http.before(async () => {
  installation = openInstallation()
  url = await installation.serve((exchange) => {
    const id = String(exchange.request.headers['x-user'] ?? 'u1')
    return { caller: { id, username: id, role: 'user' } }
  })
})

http.after(() => installation.close())

async function ask(method: string, path: string, body?: unknown, user = 'u1'): Promise<Answer> {
  const isBytes = body instanceof Uint8Array
  const response = await fetch(`${url}/api/personas${path}`, {
    method,
    headers: {
      'x-user': user,
      ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
    bytes,
    headers: response.headers,
  }
}

async function newPersona(more: object = {}): Promise<string> {
  const { status, body } = await ask('POST', '', { name: 'Ada', model: 'gpt-x', ...more })
  assert.is(status, 201, JSON.stringify(body))
  await ask('POST', `/${body.id}/memory`, { content: 'Lives in 柏林', importance_score: 0.7 })
  return body.id
}

const warmer = {
  adaptation_type: 'tone',
  trigger_event: 'explicit_instruction',
  changes: [{ trait: 'warmth', target: 1 }],
}

http.whole('a persona learns, says what it learned and why, and unlearns it', async () => {
  const id = await newPersona()
  const before = await ask('GET', `/${id}/state`)
  assert.equal([before.status, before.body.behavioral_weights, before.body.adaptation_level], [200, {}, 0])
  const { status, body } = await ask('POST', `/${id}/state/adaptation`, warmer)
  assert.is(status, 200)
  assert.equal(body.state.behavioral_weights, { warmth: 0.1 })
  assert.is(body.record.changes[0].path, '/behavioral_weights/warmth')
  const log = await ask('GET', `/${id}/state/adaptation?limit=5`)
  assert.equal([log.body.total, log.body.records[0].id], [1, body.record.id])
  const undo = await ask('POST', `/${id}/state/adaptation`, {
    adaptation_type: 'rollback',
    trigger_event: 'manual_request',
    changes: [{ record: body.record.id }],
  })
  assert.equal(undo.body.state.behavioral_weights, {})
  const off = await newPersona({ mutation_settings: { enabled: false } })
  assert.is((await ask('POST', `/${off}/state/adaptation`, warmer)).status, 400)
  assert.is((await ask('GET', `/${off}/state`)).body.enabled, false)
})

http('a persona travels as a package of each form, and comes in as the caller’s', async () => {
  const id = await newPersona()
  await ask('POST', `/${id}/state/adaptation`, warmer)
  const hashes = new Set<string>()
  for (const format of ['json', 'container']) {
    const out = await ask('POST', `/${id}/export`, { format })
    assert.is(out.status, 200)
    assert.is(out.headers.get('content-type'), format === 'json' ? 'application/json' : 'application/zip')
    const verdict = await ask('POST', `/${id}/verify`, new Uint8Array(out.bytes))
    assert.equal([verdict.status, verdict.body.valid, verdict.body.problems], [200, true, []])
    assert.is(verdict.body.expected, out.headers.get('x-package-checksum'))
    hashes.add(verdict.body.content_hash)
    const plan = await ask('POST', '/import?dry_run=true', new Uint8Array(out.bytes), 'u2')
    assert.equal([plan.body.dry_run, plan.body.imported], [true, { memories: 1, adaptations: 1 }])
    const taken = await ask('POST', '/import', new Uint8Array(out.bytes), 'u2')
    assert.is(taken.status, 201)
    const copy = await ask('GET', `/${taken.body.persona_id}`, undefined, 'u2')
    assert.equal([copy.body.user_id, copy.body.name], ['u2', 'Ada'])
    const state = await ask('GET', `/${taken.body.persona_id}/state`, undefined, 'u2')
    assert.equal(state.body.behavioral_weights, { warmth: 0.1 })
    const stored = await ask('POST', `/${taken.body.persona_id}/verify`, undefined, 'u2')
    assert.equal([stored.body.valid, stored.body.content_hash], [true, verdict.body.content_hash])
  }
  assert.is(hashes.size, 1)
  // A JSON package may also be sent as JSON.
  const document = (await ask('POST', `/${id}/export`, {})).body
  assert.is((await ask('POST', '/import', document)).status, 201)
  assert.is((await ask('POST', `/${id}/verify`, document)).body.valid, true)
})

http('a changed package is an answer to verify and a refusal to import', async () => {
  const id = await newPersona()
  const text = (await ask('POST', `/${id}/export`, {})).bytes.toString().replace('柏林', '柏杜')
  const verdict = await ask('POST', `/${id}/verify`, new Uint8Array(Buffer.from(text)))
  assert.equal([verdict.status, verdict.body.valid, verdict.body.kind], [200, false, 'damaged'])
  assert.match(verdict.body.problems.join(), /memories\[0\] was changed/)
  const refused = await ask('POST', '/import', new Uint8Array(Buffer.from(text)))
  assert.is(refused.status, 400)
  assert.match(refused.body.details.join(), /memories\[0\] was changed/)
  for (const nothing of [undefined, new Uint8Array(), {}, []])
    assert.is((await ask('POST', '/import', nothing)).status, 400)
})

http.whole(
  'what is removed or wiped is gone from the backups too, and the answer names where else it may be',
  async () => {
    const id = await newPersona()
    const add = async (content: string, category: string) =>
      (await ask('POST', `/${id}/memory`, { content, metadata: { category } })).body.id as string
    const secret = await add('The code of the door is 4711', 'house')
    await add('The cellar floods in spring', 'house')
    await add('Likes tea', 'taste')
    const { backup_id, checksum } = (await ask('POST', `/${id}/backup`)).body
    const restored = async () => {
      assert.is((await ask('POST', `/${id}/restore`, { backup_id })).status, 200)
      const { memories } = (await ask('GET', `/${id}/memory`)).body
      return memories.map(({ content }: { content: string }) => content).sort()
    }

    const removed = await ask('DELETE', `/${id}/memory/${secret}`)
    assert.equal(removed.body, {
      deleted: 1,
      backups: { rewritten: 1, removed: 0 },
      may_remain_in: ['exported packages'],
    })
    const listed = (await ask('GET', `/${id}/backups`)).body.backups[0]
    assert.is.not(listed.checksum, checksum)
    assert.equal([listed.backup_id, listed.memories], [backup_id, 3])
    assert.equal(await restored(), ['Likes tea', 'Lives in 柏林', 'The cellar floods in spring'])

    const wiped = await ask('DELETE', `/${id}/memory?category=house`)
    // The one before the restore is as the one that was restored.
    assert.equal([wiped.body.deleted, wiped.body.backups], [1, { rewritten: 2, removed: 0 }])
    assert.equal(await restored(), ['Likes tea', 'Lives in 柏林'])

    await ask('DELETE', `/${id}/memory`)
    assert.equal(await restored(), [])
    assert.is((await ask('POST', `/${id}/verify`)).body.valid, true)
    const nothing = await ask('DELETE', `/${id}/memory`)
    assert.equal(nothing.body, { deleted: 0 })
  },
)

http('a backup brings a persona back, by its id, as the newest, or as a package', async () => {
  const id = await newPersona()
  assert.is((await ask('POST', `/${id}/restore`)).status, 404)
  const made = await ask('POST', `/${id}/backup`)
  assert.is(made.status, 201)
  assert.match(made.body.checksum, /^sha256:[0-9a-f]{64}$/)
  await ask('POST', `/${id}/memory`, { content: 'Something later' })
  const memories = async () => (await ask('GET', `/${id}/memory`)).body.total
  assert.is(await memories(), 2)
  const restored = await ask('POST', `/${id}/restore`, { backup_id: made.body.backup_id })
  assert.equal([restored.status, restored.body.restored], [200, made.body.backup_id])
  assert.is(await memories(), 1)
  const list = (await ask('GET', `/${id}/backups`)).body.backups
  assert.equal(pluck(list, 'reason'), ['before_restore', 'manual'])
  await ask('POST', `/${id}/restore`)
  assert.is(await memories(), 2)
  const document = (await ask('POST', `/${id}/export`, {})).bytes
  await ask('DELETE', `/${id}/memory`)
  assert.is((await ask('POST', `/${id}/restore`, new Uint8Array(document))).status, 200)
  assert.is(await memories(), 2)
  assert.is((await ask('POST', `/${id}/restore`, { backup_id: 'nothing' })).status, 404)
})

http('others are answered in the middle of a large import', async () => {
  const shop = await openShop(newFolder(), { withoutChildren: true })
  const persona = await shop.stock('u9', 0)
  await shop.addMemories(
    persona,
    Array.from({ length: 300 }, (_, at) => memoryOf(at, 8)),
  )
  const { path } = await shop.packages.export(persona, { format: 'container', embeddings: true })
  const bytes = new Uint8Array(readFileSync(path))
  shop.close()
  const id = await newPersona()
  const reader = openReader(join(installation.home, 'aichat.db'))
  const arrived = reader.prepare("SELECT sum(memories) FROM memory_scope WHERE user_id LIKE '~arriving/%'").pluck()
  let events: string[] = []
  // On a busy machine the process of an import may be done before this one has its turn.
  for (let round = 0; round < 5 && events[0] !== 'others'; round++) {
    const seen: string[] = []
    const importing = ask('POST', '/import', bytes).then((answer) => {
      seen.push('import')
      return answer
    })
    while (!arrived.get() && seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    assert.is((await fetch(`${url}/health`)).status, 200)
    assert.is((await ask('POST', `/${id}/memory`, { content: `Meanwhile ${round}` })).status, 201)
    seen.push('others')
    assert.is((await importing).status, 201)
    events = seen
  }
  reader.close()
  assert.equal(events, ['others', 'import'])
})

http.whole('nobody touches somebody else’s persona, and learns nothing of what is not there', async () => {
  const id = await newPersona()
  const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', 'state'],
    ['GET', 'state/adaptation'],
    ['POST', 'state/adaptation', { nonsense: true }],
    ['POST', 'backup'],
    ['GET', 'backups'],
    ['POST', 'restore'],
    ['POST', 'export', { format: 'nonsense' }],
    ['POST', 'verify'],
  ]
  for (const [method, path, body] of calls) {
    assert.is((await ask(method, `/${id}/${path}`, body, 'u2')).status, 403, path)
    assert.is((await ask(method, `/unknown/${path}`, body)).status, 404, path)
  }
})

http.whole('what is wrong with a request is said, all of it', async () => {
  const id = await newPersona()
  const { status, body } = await ask('POST', `/${id}/state/adaptation`, {
    adaptation_type: 'Bad Type',
    changes: [{ trait: 'x', target: 7 }],
  })
  assert.is(status, 400)
  assert.match(body.details.join('\n'), /adaptation_type.*\n?.*trigger_event/s)
  assert.is((await ask('POST', `/${id}/export`, { format: 'xml' })).status, 400)
  assert.is((await ask('POST', '/import?mode=steal', new Uint8Array([1]))).status, 400)
})

http.run()
