// Some with --all only: many processes.
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { builtinModel, type Embedder, type Embedders } from '../../../src/personas/memory/embedding.ts'
import { createMemories, type Memories, type SearchOutcome } from '../../../src/personas/memory/memories.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { createBuiltinEmbedder } from '../../../src/runners/embedder-builtin.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { until } from '../../helpers/eventually.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { memoryStoreOf, personaStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('embedding in the background')

/** A runner with models that can be absent, or paused in the middle. */
interface Runner {
  readonly embedders: Embedders
  away: boolean
  /** Texts that it embeds before it dies. */
  left: number
  /** Awaited before each batch. */
  gate: Promise<void>
  /** How many memories it has embedded. */
  made: number
}

function openRunner(dimensions: Readonly<Record<string, number>>, version = 1): Runner {
  const runner: Runner = {
    away: false,
    left: Number.POSITIVE_INFINITY,
    gate: Promise.resolve(),
    made: 0,
    embedders: {
      list: async () => ({ models: [] }),
      require: async () => {},
      rarity: () => undefined,
      embedder: (model = builtinModel) => embedderOf(model, dimensions[model]!),
    },
  }
  return runner

  function embedderOf(model: string, dimension: number): Embedder {
    const space = { key: `${model}@${version}`, model, dimension }
    return {
      model,
      trust: 0.5,
      space: () => (runner.away ? undefined : space),
      async embed(texts, role) {
        if (role === 'document') await runner.gate
        if (runner.away || runner.left < texts.length) throw new AppError('unavailable', 'The runner is away')
        runner.left -= texts.length
        if (role === 'document') runner.made += texts.length
        return { space, vectors: texts.map((text) => spelled(text, dimension)) }
      },
    }
  }
}

/** A unit vector of a text's letters. */
function spelled(text: string, dimension: number): Float32Array {
  const values = new Float32Array(dimension)
  for (const letter of text) values[letter.codePointAt(0)! % dimension]!++
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

interface Place {
  readonly path: string
  readonly db: Database
  /** A process's memories; a new one is a restart. */
  start(embedders: Embedders): Memories
  persona: Persona
}

async function withPlace(model: string | undefined, work: (place: Place) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const path = join(folder, 'aichat.db')
  const db = await openDatabase(path)
  const persona: Persona = {
    id: 'p',
    user_id: 'u',
    name: 'p',
    model: 'm',
    parameters: {},
    created_at: 0,
    updated_at: 0,
    ...(model !== undefined && { embedding_model: model }),
  }
  await personaStoreOf(db).save(persona)
  const started: Memories[] = []
  const place: Place = {
    path,
    db,
    persona,
    start(embedders) {
      const store = memoryStoreOf(db)
      const memories = createMemories({
        store,
        personas: { get: async () => place.persona },
        embedders,
        clock: Date.now,
      })
      started.push(memories)
      return memories
    },
  }
  try {
    await work(place)
  } finally {
    await Promise.all(started.map((memories) => memories.close()))
    db.close()
  }
}

async function tell({ persona }: Place, memories: Memories, count: number): Promise<void> {
  for (let at = 0; at < count; at++)
    await memories.add(persona, {
      content: `In harbour number ${at} lies a boat`,
      importance_score: 0.5,
      metadata: {},
    })
}

function ask({ persona }: Place, memories: Memories): Promise<SearchOutcome> {
  return memories.search(persona, { query: 'which harbour has the boat number 7', limit: 3 })
}

async function statuses({ persona }: Place, memories: Memories): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { embedding_status: status } of (await memories.list(persona, { limit: 1000, offset: 0 })).memories)
    counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test.whole('goes on after a change of model while searches are answered, which report their mode', () =>
  withPlace('small', async (place) => {
    const runner = openRunner({ small: 32, large: 96 })
    const memories = place.start(runner.embedders)
    await tell(place, memories, 100)
    assert.is((await ask(place, memories)).mode, 'hybrid')
    assert.equal(await statuses(place, memories), { ready: 100 })

    let open = () => {}
    runner.gate = new Promise((resolve) => {
      open = resolve
    })
    place.persona = { ...place.persona, embedding_model: 'large' }
    memories.reembed(place.persona)
    const meanwhile = await ask(place, memories)
    assert.equal([meanwhile.mode, meanwhile.embedding_model], ['lexical', 'large'])
    assert.match(meanwhile.hits[0]!.entry.content, /number 7 /)
    assert.equal(await statuses(place, memories), { pending: 100 })
    open()
    await until(async () => (await statuses(place, memories))['ready'] === 100)
    assert.is((await ask(place, memories)).mode, 'hybrid')
    const dimensions = place.db.prepare('SELECT DISTINCT length(vector) / 4 FROM memory_vector').pluck().all()
    assert.equal(dimensions, [96])
    assertAgreeing(place.db)
  }),
)

test('leaves memories pending when a runner dies, found by their words, and embeds them when it is back', () =>
  withPlace('small', async (place) => {
    const runner = openRunner({ small: 32 })
    const memories = place.start(runner.embedders)
    await tell(place, memories, 2)
    runner.left = 1
    const { memory } = await memories.add(place.persona, { content: 'first', importance_score: 0.5, metadata: {} })
    assert.is(memory.embedding_status, 'ready')
    const { memory: second } = await memories.add(place.persona, {
      content: 'The boat in harbour number 7 is red',
      importance_score: 1,
      metadata: {},
    })
    assert.is(second.embedding_status, 'pending')
    assert.equal(second.embedding, [])
    assert.equal(await statuses(place, memories), { ready: 3, pending: 1 })
    const away = await ask(place, memories)
    assert.is(away.mode, 'lexical')
    assert.is(away.hits[0]!.entry.content, 'The boat in harbour number 7 is red')
    runner.left = Number.POSITIVE_INFINITY
    await until(async () => (await statuses(place, memories))['ready'] === 4)
    assert.is((await ask(place, memories)).mode, 'hybrid')
    assertAgreeing(place.db)
  }))

test.whole('resumes pending memories after a restart, at the first read of the persona', () =>
  withPlace('small', async (place) => {
    const runner = openRunner({ small: 32 })
    runner.away = true
    const before = place.start(runner.embedders)
    await tell(place, before, 70)
    assert.equal(await statuses(place, before), { pending: 70 })
    await before.close()

    // It dies once more in the middle: one vector tells the space, and a batch is written.
    runner.away = false
    runner.left = 40
    const middle = place.start(runner.embedders)
    await ask(place, middle)
    await until(async () => runner.left < 32)
    await middle.close()
    const written = place.db.prepare<[], number>('SELECT count(*) FROM memory_vector').pluck().get()!
    assert.ok(written > 0 && written < 70, `${written}`)

    runner.left = Number.POSITIVE_INFINITY
    const after = place.start(runner.embedders)
    await ask(place, after)
    await until(async () => (await statuses(place, after))['ready'] === 70)
    assert.is((await ask(place, after)).mode, 'hybrid')
    assertAgreeing(place.db)
  }),
)

test.whole('of two processes one embeds, and the other one finds its vectors', () =>
  withPlace('small', async (place) => {
    const [one, other] = [openRunner({ small: 32 }), openRunner({ small: 32 })]
    one.away = true
    const before = place.start(one.embedders)
    await tell(place, before, 200)
    one.away = false
    const both = [before, place.start(other.embedders)]
    for (const memories of both) memories.reembed(place.persona)
    await until(async () => (await statuses(place, before))['ready'] === 200)
    await Promise.all(both.map((memories) => memories.close()))
    assert.is(one.made + other.made, 200)
    assertAgreeing(place.db)
  }),
)

test('two builds with different vectors of one model do not embed the memories of each other again', () =>
  withPlace('small', async (place) => {
    const [old, fresh] = [openRunner({ small: 32 }), openRunner({ small: 32 }, 2)]
    const before = place.start(old.embedders)
    await tell(place, before, 40)
    before.reembed(place.persona)
    await ask(place, before)
    await until(async () => {
      const claims = place.db.prepare('SELECT 1 FROM embedding_lease WHERE space = ?').all('small@1')
      return claims.length === 1
    })
    const made = old.made
    const after = place.start(fresh.embedders)
    for (const memories of [after, before, after]) {
      memories.reembed(place.persona)
      await ask(place, memories)
    }
    assert.is((await ask(place, after)).mode, 'lexical')
    assert.is((await ask(place, before)).mode, 'hybrid')
    await after.close()
    assert.equal([fresh.made, old.made - made], [0, 0])
    assertAgreeing(place.db)
  }))

test('stores memories without the built-in word vectors', () =>
  withPlace(undefined, async (place) => {
    const builtin = createBuiltinEmbedder(`${place.path}.no-vectors`)
    const memories = place.start({ ...openRunner({}).embedders, embedder: () => builtin })
    await tell(place, memories, 10)
    assert.equal(await statuses(place, memories), { pending: 10 })
    const found = await ask(place, memories)
    assert.equal([found.mode, found.embedding_model], ['lexical', 'builtin'])
    assert.match(found.hits[0]!.entry.content, /number 7 /)
  }))

test.run()
