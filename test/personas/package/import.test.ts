// Some with --all only: many processes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { maxContentLength } from '../../../src/personas/memory/memory.ts'
import { packageLimits } from '../../../src/personas/package/format.ts'
import { type Document, put, resigned, signed } from '../../helpers/personas/package-forge.ts'
import { memoryOf, newFolder, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { rejects } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'

const imports = suite('imports')

const create = { mode: 'create', dry_run: false } as const

async function inShop(use: (shop: Shop) => Promise<void>): Promise<void> {
  using shop = await openShop(newFolder(), { withoutChildren: true })
  await use(shop)
}

/** A package by the specification alone, as another program might write it. */
function foreign(): Document {
  return {
    persona: { id: 'p-1', user_id: 'somebody-else', name: 'Bob', model: 'llama', embedding_model: 'nomic' },
    state: {
      persona_id: 'p-1',
      user_id: 'somebody-else',
      adaptation_level: 0.4,
      learned_preferences: { tone: 'dry', units: { value: 'metric', confidence: 0.9 } },
      behavioral_weights: { verbosity: -0.5, odd: 7 },
      last_mutation: 1000,
    },
    memories: [
      {
        id: 'm-1',
        user_id: 'somebody-else',
        persona_id: 'p-1',
        content: 'Likes tea',
        embedding: [0.6, 0.8],
        timestamp: 5,
        importance_score: 0.5,
      },
      {
        id: 'm-2',
        user_id: 'somebody-else',
        persona_id: 'p-1',
        content: 'Likes tea',
        embedding: [],
        timestamp: 6,
        importance_score: 0.7,
        metadata: {},
      },
      {
        id: 'm-3',
        user_id: 'somebody-else',
        persona_id: 'p-1',
        content: 'Zero',
        embedding: [0, 0],
        timestamp: 7,
        importance_score: 0.7,
        metadata: {},
      },
    ],
    adaptation_log: [
      {
        id: 'a-1',
        persona_id: 'p-1',
        user_id: 'somebody-else',
        adaptation_type: 'preference',
        trigger_event: 'chat',
        changes: { tone: 'dry' },
        timestamp: 900,
        mood: 'kept',
      },
    ],
    export_metadata: { exported_at: 1, user_id: 'somebody-else', version: '1.0.0', checksum: '' },
  }
}

imports('take in a package of another program: ids are new, its user is not believed, its state becomes a record', () =>
  inShop(async (shop) => {
    const path = put(join(shop.folder, 'bob.json'), signed(foreign()))
    const result = await shop.packages.import('u7', path, create)
    assert.equal(result.imported, { memories: 2, adaptations: 2 })
    assert.is(result.duplicates, 1)
    const persona = (await shop.find(result.persona_id))!
    assert.is(persona.user_id, 'u7')
    assert.is.not(persona.id, 'p-1')
    const state = await shop.adaptation.state(persona)
    assert.equal(state.behavioral_weights, { odd: 1, verbosity: -0.5 })
    assert.is(state.learned_preferences['tone']?.value, 'dry')
    assert.is(state.learned_preferences['units']?.value, 'metric')
    const { records } = await shop.adaptation.log(persona, { limit: 9, offset: 0 })
    assert.equal(records[1]?.changes, { tone: 'dry' })
    assert.equal((records[1] as unknown as Document)['original'], { id: 'a-1', mood: 'kept' })
    assert.equal((await shop.packages.verifyStored(persona)).problems, [])
    assert.not(JSON.stringify(shop.dump()).includes('somebody-else'))
    const spaces = shop.db.prepare('SELECT key, model, dimension FROM embedding_space').all()
    assert.equal(spaces, [{ key: 'imported/nomic#2', model: 'nomic', dimension: 2 }])
  }),
)

imports('give the same package again once a foreign one is ours', () =>
  inShop(async (shop) => {
    const path = put(join(shop.folder, 'bob.json'), signed(foreign()))
    const hashes: (string | undefined)[] = []
    let from = path
    for (let round = 0; round < 3; round++) {
      const { persona_id } = await shop.packages.import('u7', from, create)
      const out = await shop.packages.export((await shop.find(persona_id))!, { format: 'json', embeddings: true })
      hashes.push(out.content_hash)
      from = out.path
    }
    assert.is(hashes[1], hashes[0])
    assert.is(hashes[2], hashes[0])
  }),
)

imports('report the outcome of a dry run and change nothing', () =>
  inShop(async (shop) => {
    const persona = await shop.stock('u1', 4)
    const out = await shop.packages.export(persona, { format: 'container', embeddings: true })
    const before = shop.dump()
    for (const mode of ['create', 'merge', 'replace'] as const) {
      const plan = await shop.packages.import('u1', out.path, { mode, dry_run: true })
      assert.is(plan.dry_run, true)
      assert.is(plan.imported.memories, mode === 'merge' ? 0 : 4)
      assert.is(plan.duplicates, mode === 'merge' ? 4 : 0)
      assert.equal(shop.dump(), before)
    }
  }),
)

imports('merge new memories, keep the learned state, and note it in the log', () =>
  inShop(async (shop) => {
    const persona = await shop.stock('u1', 4)
    const out = await shop.packages.export(persona, { format: 'json', embeddings: true })
    await shop.packages.import('u1', out.path, { mode: 'merge', dry_run: false })
    const { records, total } = await shop.adaptation.log(persona, { limit: 1, offset: 0 })
    assert.is(total, 4)
    assert.is(records[0]?.adaptation_type, 'import_merge')
    const other = await shop.stock('u1', 6)
    const state = await shop.adaptation.state(other)
    const merged = await shop.packages.import('u1', out.path, { mode: 'merge', dry_run: false, persona: other.id })
    assert.equal([merged.imported.memories, merged.duplicates], [0, 4])
    const after = await shop.adaptation.state(other)
    assert.equal(after.behavioral_weights, state.behavioral_weights)
    assert.equal((await shop.packages.verifyStored(other)).problems, [])
  }),
)

imports('replace a persona after backing it up, and the backup brings it back', () =>
  inShop(async (shop) => {
    const persona = await shop.stock('u1', 3)
    const old = await shop.packages.export(persona, { format: 'json', embeddings: true })
    await shop.addMemories(persona, [memoryOf(99, 48)])
    const fuller = await shop.packages.export(persona, { format: 'json', embeddings: true })
    const result = await shop.packages.import('u1', old.path, { mode: 'replace', dry_run: false })
    assert.is(result.persona_id, persona.id)
    const content = async () => (await shop.packages.verifyStored((await shop.find(persona.id))!)).content_hash
    assert.is(await content(), old.content_hash)
    await shop.backups.restore((await shop.find(persona.id))!, result.backup_id)
    assert.is(await content(), fuller.content_hash)
  }),
)

imports('refuse to replace another user’s persona, even one that the package names', () =>
  inShop(async (shop) => {
    const persona = await shop.stock('u1', 2)
    const out = await shop.packages.export(persona, { format: 'json', embeddings: true })
    const before = shop.dump()
    for (const mode of ['merge', 'replace'] as const) {
      await rejects(shop.packages.import('u2', out.path, { mode, dry_run: false }), 'invalid', /Say which persona/)
      await rejects(
        shop.packages.import('u2', out.path, { mode, dry_run: false, persona: persona.id }),
        'forbidden',
        /another user/,
      )
    }
    assert.equal(shop.dump(), before)
  }),
)

imports('put vectors of another length into a space of their own, so that no search breaks', () =>
  inShop(async (shop) => {
    await shop.stock('u1', 1)
    const hostile = foreign()
    hostile['memories'] = [{ ...hostile['memories'][0], embedding: [1, 0, 0], embedding_space: 'test#48' }]
    await shop.packages.import('u2', put(join(shop.folder, 'h.json'), signed(hostile)), create)
    const keys = shop.db.prepare('SELECT key, dimension FROM embedding_space ORDER BY key').all()
    assert.equal(keys, [
      { key: 'test#48', dimension: 48 },
      { key: 'test#48#3', dimension: 3 },
    ])
  }),
)

imports('name every field that does not fit', () =>
  inShop(async (shop) => {
    const wrong = foreign()
    Object.assign(wrong['persona'], {
      memory_settings: { max_memories: -1 },
      mutation_settings: { sensitivity: 'extreme' },
      parameters: { model: 'x' },
    })
    const path = put(join(shop.folder, 'w.json'), resigned(wrong))
    const error = await rejects(shop.packages.import('u2', path, create), 'invalid', /invalid persona/)
    assert.is(error.details.length, 3)
    assert.equal(shop.db.prepare('SELECT count(*) FROM persona').pluck().get(), 0)
  }),
)

imports('take memories as long as the store does', () => {
  assert.is(packageLimits.content, maxContentLength)
})

/** A package of another program with so many memories. */
function withMemories(count: number): Document {
  const [first] = foreign()['memories']
  const list = Array.from({ length: count }, (_, at) => ({
    ...first,
    id: `m${at}`,
    content: `Tea number ${at}`,
    embedding: [],
  }))
  return { ...foreign(), memories: list }
}

for (const count of [20, 120])
  imports(`${count} memories that are more than the persona may keep raise its limit, with a warning`, () =>
    inShop(async (shop) => {
      const document = withMemories(count)
      document['persona'].memory_settings = { max_memories: 10 }
      const result = await shop.packages.import('u7', put(join(shop.folder, 'many.json'), signed(document)), create)
      assert.is(result.imported.memories, count)
      assert.match(result.warnings.join(), new RegExp(`max_memories was raised from 10 to ${count}`))
      assert.is((await shop.find(result.persona_id))!.memory_settings!.max_memories, count)
    }),
  )

for (const count of [20, 120])
  imports(`${count} memories that a persona has no room for are not merged into it`, () =>
    inShop(async (shop) => {
      const path = put(join(shop.folder, 'many.json'), signed(withMemories(count)))
      const whole = await shop.stock('u7', 5)
      const persona = { ...whole, memory_settings: { max_memories: count } }
      shop.db.prepare('UPDATE persona SET memory_settings = ?').run(JSON.stringify(persona.memory_settings))
      const before = shop.dump()
      for (const dry_run of [true, false])
        await rejects(
          shop.packages.import('u7', path, { mode: 'merge', dry_run, persona: persona.id }),
          'invalid',
          new RegExp(`may keep ${count} memories and would have ${count + 5}`),
        )
      assert.equal(shop.dump(), before)
      // Duplicates need no room.
      shop.db.prepare('UPDATE persona SET memory_settings = ?').run(JSON.stringify({ max_memories: count + 5 }))
      for (const memories of [count, 0])
        assert.is(
          (await shop.packages.import('u7', path, { mode: 'merge', dry_run: false, persona: persona.id })).imported
            .memories,
          memories,
        )
    }),
  )

imports('of more weights than a persona keeps the strongest are imported, and a backup of them can be restored', () =>
  inShop(async (shop) => {
    const document = foreign()
    document['state'].behavioral_weights = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`w${at}`, at / 1000]),
    )
    const result = await shop.packages.import('u7', put(join(shop.folder, 'many.json'), signed(document)), create)
    assert.match(result.warnings.join(), /1000 behavioral_weights came and a persona keeps 200: 800 were left out/)
    const persona = (await shop.find(result.persona_id))!
    const { behavioral_weights: kept } = await shop.adaptation.state(persona)
    assert.equal([Object.keys(kept).length, kept['w999'], kept['w799']], [200, 0.999, undefined])
    await shop.backups.create(persona)
    assert.is((await shop.backups.restore(persona)).adaptations, 2)
    assert.equal((await shop.packages.verifyStored(persona)).problems, [])
  }),
)

imports.whole('unknown fields are kept up to a bound, and refused beyond it', () =>
  inShop(async (shop) => {
    const length = packageLimits.unknown
    const cases: readonly (readonly [string, (document: Document) => void, RegExp])[] = [
      [
        'part',
        (document) => Object.assign(document, { more: 'x'.repeat(length) }),
        /bytes of parts that are unknown here \(more\)/,
      ],
      [
        'parts',
        (document) => Object.assign(document, { more: 'x'.repeat(length / 2), even: 'x'.repeat(length / 2) }),
        /unknown here \(more, even\)/,
      ],
      ['state', (document) => Object.assign(document['state'], { more: 'x'.repeat(length) }), /state has more than/],
      [
        'metadata',
        (document) => Object.assign(document['export_metadata'], { more: 'x'.repeat(length) }),
        /export_metadata has more than/,
      ],
      [
        'lineage',
        (document) => Object.assign(document['export_metadata'], { lineage: [{ more: 'x'.repeat(length) }] }),
        /lineage of the package has more than/,
      ],
      [
        'persona',
        (document) => Object.assign(document['persona'], { more: 'x'.repeat(length) }),
        /persona carries more than/,
      ],
      [
        'memory',
        (document) => Object.assign(document['memories'][0], { more: 'x'.repeat(packageLimits.labels) }),
        /unknown here must not be longer/,
      ],
      [
        'labels',
        (document) => Object.assign(document['memories'][0], { metadata: { more: 'x'.repeat(packageLimits.labels) } }),
        /metadata must not be longer/,
      ],
    ]
    for (const [name, change, message] of cases) {
      const document = foreign()
      change(document)
      const reason = await shop.packages
        .import('u7', put(join(shop.folder, `${name}.json`), signed(document)), create)
        .then(
          () => assert.unreachable(name),
          (thrown) => thrown,
        )
      assert.match([reason.message, ...reason.details].join(), message)
    }
    const fine = foreign()
    Object.assign(fine, { more: 'x'.repeat(1_000_000) })
    const { persona_id } = await shop.packages.import('u7', put(join(shop.folder, 'fine.json'), signed(fine)), create)
    const { path } = await shop.packages.export((await shop.find(persona_id))!, { format: 'json', embeddings: true })
    assert.is(JSON.parse(readFileSync(path, 'utf8')).more.length, 1_000_000)
  }),
)

imports.run()
