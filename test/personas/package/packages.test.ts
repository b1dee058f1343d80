// Some with --all only: a whole sample.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { canonicalize } from '../../../src/formats/json/canonical.ts'
import { adaptationRequest } from '../../../src/personas/adaptation/request.ts'
import { openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { anyCharacter, fc } from '../../helpers/properties.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const packages = suite('persona packages')

const create = { mode: 'create', dry_run: false } as const

async function inShops(use: (home: Shop, away: Shop) => Promise<void>): Promise<void> {
  const [home, away] = [await openShop(), await openShop()]
  try {
    await use(home, away)
  } finally {
    home.close()
    away.close()
  }
}

for (const format of isWholeRun ? (['json', 'container'] as const) : (['container'] as const))
  packages(`go round through ${format}: the same content hash, every vector bit for bit`, () =>
    inShops(async (home, away) => {
      const persona = await home.stock('u1', 40)
      const out = await home.packages.export(persona, { format, embeddings: true })
      const result = await away.packages.verify(out.path)
      assert.equal(result.problems, [])
      assert.is(result.expected, out.checksum)
      const imported = await away.packages.import('u2', out.path, create)
      assert.equal(imported.imported, { memories: 40, adaptations: 3 })
      assert.is.not(imported.persona_id, persona.id)
      const copy = (await away.find(imported.persona_id))!
      assert.is(copy.user_id, 'u2')
      const back = await away.packages.export(copy, {
        format: format === 'json' ? 'container' : 'json',
        embeddings: true,
      })
      assert.is(back.content_hash, out.content_hash)
      const vectors = (shop: Shop) =>
        shop.db.prepare('SELECT vector FROM memory_vector ORDER BY memory_id').pluck().all()
      assert.equal(vectors(away), vectors(home))
      assert.equal((await away.packages.verifyStored(copy)).problems, [])
      const [before, after] = [await home.adaptation.state(persona), await away.adaptation.state(copy)]
      assert.equal(after.behavioral_weights, before.behavioral_weights)
      assert.is(after.learned_preferences['units']?.value, 'metric')
    }),
  )

packages('undo a record of an imported log, and its evidence points into it', () =>
  inShops(async (home, away) => {
    const out = await home.packages.export(await home.stock('u1'), { format: 'json', embeddings: false })
    const { persona_id } = await away.packages.import('u2', out.path, create)
    const copy = (await away.find(persona_id))!
    const { records } = await away.adaptation.log(copy, { limit: 10, offset: 0 })
    assert.is(records[2]?.undone_by, records[0]?.id)
    const state = await away.adaptation.state(copy)
    assert.equal(state.learned_preferences['units']?.evidence, [records[1]?.id])
    const undo = { adaptation_type: 'rollback', trigger_event: 'manual_request', changes: [{ record: records[1]!.id }] }
    assert.equal((await away.adaptation.adapt(copy, undo)).state.learned_preferences, {})
  }),
)

packages('keep unknown fields, at any place, through a round trip', () =>
  inShops(async (home, away) => {
    const out = await home.packages.export(await home.stock('u1', 2), { format: 'json', embeddings: true })
    const document = JSON.parse(readFileSync(out.path, 'utf8'))
    document.future = { list: [1, 2] }
    document.persona.mood = 'good'
    document.persona.memory_settings.depth = 3
    document.state.phase = 'x'
    document.memories[1].links = ['a']
    document.export_metadata = {
      version: '1.99',
      future_field: { kept: true },
      exported_at: 5,
      user_id: 'x',
      embedding_spaces: document.export_metadata.embedding_spaces,
    }
    const path = join(home.folder, 'future.json')
    writeFileSync(path, withChecksum(document))
    const { persona_id } = await away.packages.import('u2', path, create)
    const back = await away.packages.export((await away.find(persona_id))!, { format: 'container', embeddings: true })
    const again = await home.packages.import('u1', back.path, create)
    const last = await home.packages.export((await home.find(again.persona_id))!, { format: 'json', embeddings: true })
    assert.is(last.content_hash, back.content_hash)
    const kept = JSON.parse(readFileSync(last.path, 'utf8'))
    assert.equal(kept.future, { list: [1, 2] })
    assert.is(kept.persona.mood, 'good')
    assert.equal(kept.persona.memory_settings, { enabled: true, max_memories: 100_000, depth: 3 })
    assert.is(kept.state.phase, 'x')
    assert.equal(kept.memories[1].links, ['a'])
    assert.equal(kept.export_metadata.future_field, { kept: true })
    assert.is(kept.export_metadata.lineage.length, 2)
  }),
)

packages.whole('hold every value that the API accepts', async () => {
  using shop = await openShop()
  const json = fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter })
  const metadata = fc.dictionary(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 9 }), json)
  const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 3, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(metadata, fc.string({ unit: anyCharacter, minLength: 1 }), floats), { maxLength: 4 }),
      json,
      async (list, value) => {
        fc.pre(!JSON.stringify([list, value]).includes('__proto__'))
        const persona = await shop.stock('u1', 0)
        const space = { key: 'any', model: 'any', dimension: 3 }
        const memories = list.map(([metadata, content, values], at) => ({
          content: `${at} ${content}`,
          timestamp: at,
          importance_score: 0.5,
          metadata: JSON.parse(JSON.stringify(metadata)),
          vector: { space, values: Float32Array.from(values) },
        }))
        await shop.addMemories(persona, memories)
        const changes = adaptationRequest.safeParse({
          adaptation_type: 'preference_set',
          trigger_event: 'user_edit',
          changes: [{ preference: 'x', value }],
        })
        if (changes.success) await shop.adaptation.adapt(persona, changes.data)
        const hashes = new Set<string | undefined>()
        for (const format of ['json', 'container'] as const) {
          const out = await shop.packages.export(persona, { format, embeddings: true })
          const { persona_id } = await shop.packages.import('u2', out.path, create)
          const back = await shop.packages.export((await shop.find(persona_id))!, { format, embeddings: true })
          hashes.add(out.content_hash).add(back.content_hash)
        }
        // A vector of zeros says nothing and is left out.
        const zeros = list.some(([, , values]) => values.every((each) => each === 0))
        if (!zeros) assert.is(hashes.size, 1)
      },
    ),
    { numRuns: 40 },
  )
})

/** The text of a package after a change, with the checksum that belongs to it, as an attacker can compute it too. */
function withChecksum(document: Record<string, unknown> & { export_metadata: Record<string, unknown> }): string {
  const { checksum: _old, ...metadata } = document.export_metadata
  const rest = { ...document, export_metadata: metadata }
  const checksum = `sha256:${createHash('sha256').update(canonicalize(rest)).digest('hex')}`
  return JSON.stringify({ ...rest, export_metadata: { ...metadata, checksum } })
}

packages.run()
