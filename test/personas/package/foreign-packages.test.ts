// Some with --all only: a whole sample.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { ExportFormat } from '../../../src/personas/package/exported-file.ts'
import { type Document, put, resigned, signed } from '../../helpers/personas/package-forge.ts'
import { newFolder, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const foreignPackages = suite("packages of other programs, and other programs' eyes on ours")

async function withShop(use: (shop: Shop) => Promise<void>): Promise<void> {
  using shop = await openShop(newFolder(), { withoutChildren: true })
  await use(shop)
}

const asNew = { mode: 'create', dry_run: false } as const

/** RFC 8785 in a few lines, independent of the product's. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = value as Document
  return `{${Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(fields[key])}`)
    .join(',')}}`
}

/** The checksum by the contract: over the canonical package without it. */
function checksumOf(document: Document): string {
  const { checksum: _checksum, ...metadata } = document['export_metadata']
  const text = canonical({ ...document, export_metadata: metadata })
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** A package with the specification's fields only, as another program writes it. */
function foreign(change: (document: Document) => void = () => {}): string {
  const [id, user_id] = ['ada', 'somebody']
  const document: Document = {
    persona: { id, user_id, name: 'Ada', model: 'gpt-x' },
    state: {
      persona_id: id,
      user_id,
      adaptation_level: 0.2,
      learned_preferences: { units: 'metric' },
      behavioral_weights: { warmth: 0.4 },
      last_mutation: 1_760_000_000_000,
    },
    memories: [
      {
        id: 'm1',
        user_id,
        persona_id: id,
        content: 'She likes tea',
        embedding: [0.6, 0.8],
        timestamp: 1_760_000_000_000,
        importance_score: 0.5,
      },
    ],
    adaptation_log: [],
    export_metadata: { exported_at: 1_760_000_000_000, user_id, version: '1.0', checksum: '' },
  }
  change(document)
  document['export_metadata'].checksum = checksumOf(document)
  return JSON.stringify(document)
}

async function roundTrip(shop: Shop, text: string, format: ExportFormat): Promise<Document> {
  const file = put(join(shop.folder, `foreign-${Math.random()}`), text)
  assert.equal((await shop.packages.verify(file)).problems, [])
  const { persona_id } = await shop.packages.import('u2', file, asNew)
  const persona = (await shop.find(persona_id))!
  const first = await shop.packages.export(persona, { format, embeddings: true })
  assert.equal((await shop.packages.verify(first.path)).problems, [])
  const again = await shop.packages.import('u3', first.path, asNew)
  const copy = (await shop.find(again.persona_id))!
  // The way through a backup is the way through a container.
  await shop.backups.create(copy)
  await shop.backups.restore(copy)
  const { path, content_hash } = await shop.packages.export(copy, { format: 'json', embeddings: true })
  assert.is(content_hash, first.content_hash)
  return JSON.parse(readFileSync(path, 'utf8'))
}

foreignPackages('compute the checksum of ours from the contract alone', () =>
  withShop(async (shop) => {
    const persona = await shop.stock('u1', 20)
    for (const embeddings of [true, false]) {
      const { path, checksum } = await shop.packages.export(persona, { format: 'json', embeddings })
      const document = JSON.parse(readFileSync(path, 'utf8'))
      assert.is(checksumOf(document), document.export_metadata.checksum)
      assert.is(checksum, document.export_metadata.checksum)
      for (const field of ['id', 'user_id', 'persona_id', 'content', 'embedding', 'timestamp', 'importance_score'])
        assert.ok(field in document.memories[0], field)
    }
  }),
)

foreignPackages('are understood: the specification’s fields, with learned state and memories', () =>
  withShop(async (shop) => {
    const document = await roundTrip(shop, foreign(), 'json')
    assert.equal(document['state'].behavioral_weights, { warmth: 0.4 })
    assert.is(document['state'].learned_preferences.units.value, 'metric')
    assert.equal(document['memories'][0].embedding, [0.6, 0.8])
  }),
)

foreignPackages('may write null for absent fields, and another hash than ours', () =>
  withShop(async (shop) => {
    const text = foreign((document) => {
      for (const name of ['description', 'system_prompt', 'embedding_model', 'memory_settings', 'mutation_settings'])
        document['persona'][name] = null
      document['memories'][0].metadata = null
      document['memories'][0].embedding = null
      document['export_metadata'].content_hash = `sha256:${'0'.repeat(64)}`
    })
    const document = await roundTrip(shop, text, 'container')
    assert.not('description' in document['persona'])
    assert.equal([document['memories'][0].embedding, document['memories'][0].metadata], [[], {}])
  }),
)

foreignPackages('keep their own parts, under any name', () =>
  withShop(async (shop) => {
    const names = ['constructor', 'toString', 'valueOf', 'format', 'members', 'extra', 'embedding_length', 'notes']
    for (const format of ['json', 'container'] as const) {
      const document = await roundTrip(
        shop,
        foreign((made) => {
          for (const name of names) {
            made[name] = { of: name }
            made['export_metadata'][name] = [name]
            made['state'][name] = name
            for (const part of [made['persona'], made['memories'][0]])
              if (name !== 'embedding_length') part[name] = { own: name }
          }
          Object.assign(made['persona'], { character_card: 'none', portrait: 7 })
        }),
        format,
      )
      for (const name of names) {
        assert.equal(document[name], { of: name })
        assert.equal(document['export_metadata'][name], [name])
        assert.is(document['state'][name], name)
        if (name === 'embedding_length') continue
        assert.equal([document['persona'][name], document['memories'][0][name]], [{ own: name }, { own: name }])
      }
      assert.equal([document['persona'].character_card, document['persona'].portrait], ['none', 7])
    }
  }),
)

foreignPackages.whole('may repeat themselves: a member whose ratio a reader would refuse is stored', () =>
  withShop(async (shop) => {
    const text = foreign((document) => {
      document['notes'] = 'x'.repeat(900_000)
      document['memories'] = Array.from({ length: 60 }, (_, at) => ({
        ...document['memories'][0],
        id: `m${at}`,
        content: `${at}${'x'.repeat(19_000)}`,
      }))
    })
    assert.is((await roundTrip(shop, text, 'container'))['memories'].length, 60)
  }),
)

foreignPackages('are refused when a part is invalid, or when they have too many', () =>
  withShop(async (shop) => {
    const cases: readonly (readonly [change: (document: Document) => void, problem: RegExp])[] = [
      [(document) => (document['persona'].embedding_model = 5), /embedding_model must be a text/],
      [(document) => (document['export_metadata'].exported_at = 'today'), /exported_at must be a time/],
      [(document) => (document['export_metadata'].user_id = {}), /user_id must be a text/],
      [
        (document) => {
          for (let at = 0; at < 1200; at++) document[`part${at}`] = at
        },
        /more than 1000 parts/,
      ],
    ]
    for (const [change, problem] of cases) {
      const { valid, problems } = await shop.packages.verify(put(join(shop.folder, 'wrong'), foreign(change)))
      assert.not(valid)
      assert.match(problems.join(), problem)
    }
  }),
)

foreignPackages('are refused with advice when they are armored', () =>
  withShop(async (shop) => {
    const armored =
      '-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCg==\n-----END AGE ENCRYPTED FILE-----\n'
    const { kind, problems } = await shop.packages.verify(put(join(shop.folder, 'armored'), armored))
    assert.is(kind, 'unsupported')
    assert.match(problems.join(), /age -d/)
  }),
)

foreignPackages('cannot pass our digests off as theirs: beside them our hash must be right', () =>
  withShop(async (shop) => {
    const persona = await shop.stock('u1', 2)
    const { path } = await shop.packages.export(persona, { format: 'json', embeddings: true })
    const document = JSON.parse(readFileSync(path, 'utf8'))
    document.export_metadata.content_hash = `sha256:${'0'.repeat(64)}`
    const verify = async (text: string) =>
      (await shop.packages.verify(put(join(shop.folder, 'forged'), text))).problems.join()
    assert.match(await verify(signed(document)), /content_hash does not match/)
    assert.is(await verify(resigned(document)), '')
  }),
)

foreignPackages.run()
