// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { MemoryEntry, NewMemory, Scope } from '../../../src/personas/memory/memory.ts'
import { queryTermsOf } from '../../../src/personas/memory/ranking-query.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { indexedTerm, readBlock } from '../../../src/storage/postgres/memories-blocks.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { keepAll, makeScope, noon, vector } from '../../helpers/storage/samples.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'

const { test, server, run } = postgresSuite('memories in PostgreSQL beside those in SQLite')

interface Pair {
  readonly postgres: Storage
  readonly sqlite: Storage
  readonly url: string
}

async function withPair(work: (pair: Pair) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-postgres-memories-'))
  const url = await server().newMigrated()
  const sqlite = await openStorage(storageIn(join(folder, 'sqlite')))
  const postgres = await openStorage({ ...storageIn(join(folder, 'postgres')), url })
  try {
    await work({ postgres, sqlite, url })
  } finally {
    await Promise.all([sqlite.close(), postgres.close()])
    rmSync(folder, { recursive: true, force: true })
  }
}

const words = 'tea milk river harbour boat walk Ada cake question rain'.split(' ')

/** The same numbers in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('whatever is added, said again, edited, removed, evicted and wiped, both keep and find the same', () =>
  withPair(async ({ postgres, sqlite, url }) => {
    const below = randomFrom(3)
    const scope = await makeScope(postgres, 'p')
    await makeScope(sqlite, 'p')
    const both = async <R>(ask: (storage: Storage) => Promise<R>): Promise<R> => {
      const [one, other] = [await ask(sqlite), await ask(postgres)]
      assert.equal(other, one)
      return other
    }
    let made = 0
    const sentence = () => Array.from({ length: 1 + below(6) }, () => words[below(words.length)]).join(' ')
    const fresh = (): NewMemory => ({
      id: `m${made++}`,
      content: `${sentence()}${below(4) === 0 ? '?' : ''}`,
      timestamp: noon + below(40) * 600_000,
      importance_score: below(10) / 10,
      metadata: {
        ...(below(2) === 0 && { conversation: `c${below(2)}` }),
        ...(below(3) === 0 && { speaker: 'Ada' }),
        ...(below(3) === 0 && { category: `k${below(2)}` }),
        ...(below(9) === 0 && { keys: ['tea'] }),
        ...(below(12) === 0 && { pinned: true }),
      },
      ...(below(3) > 0 && { vector: vector(below(30) / 10) }),
    })
    const policy = { ...keepAll, maxMemories: 60, cleanup: true, now: noon }
    for (let round = 0; round < 150; round++) {
      const { entries } = await both(({ memories }) => memories.list(scope, { limit: 1000, offset: 0 }))
      const one: MemoryEntry | undefined = entries[below(Math.max(1, entries.length))]
      const kind = below(10)
      const added = Array.from({ length: 1 + below(5) }, fresh)
      const turned = vector(below(30) / 10)
      const change = { content: sentence(), timestamp: noon + below(40) * 600_000, metadata: added[0]!.metadata }
      if (kind < 4 || !one) {
        await both(({ memories }) => memories.add(scope, added, keepAll))
        // SQLite evicts in smaller slices, and so in another order.
        await both(async ({ memories }) =>
          (await memories.clean(scope, policy)).map(({ memory_id }) => memory_id).sort(),
        )
      } else if (kind === 4) await both(({ memories }) => memories.add(scope, added.slice(0, 1), policy))
      else if (kind === 5)
        await both(({ memories }) =>
          memories.edit(scope, one.id, (entry) => ({ ...entry, ...change }), policy).catch(({ code }) => code),
        )
      else if (kind === 6) await both(({ memories }) => memories.remove(scope, one.id))
      else if (kind === 7)
        await both(({ memories }) => memories.putVectors(scope, [{ id: one.id, content: one.content, vector: turned }]))
      else if (kind === 8)
        await both(({ memories }) => memories.add(scope, [{ ...one, ...added[0]!, content: one.content }], policy))
      else
        await both(({ memories }) =>
          round % 50 === 0
            ? memories.wipe(scope, {})
            : memories.wipe(scope, { category: 'k1', before: noon + 4_800_000 }),
        )
      if (round % 10 === 0) await same({ postgres, sqlite }, scope)
    }
    await same({ postgres, sqlite }, scope)
    await both(async ({ memories }) => (await memories.evictions(scope, 1000)).map(({ memory_id }) => memory_id).sort())
    await both(({ memories }) => memories.pending(scope, 'contract/8', 0, 1000).then(({ entries }) => entries))
    await both(({ memories }) => memories.lore(scope, {}, 0, 1000).then(({ entries }) => entries))
    await both(async (storage) => (await storage.size()).personaBytes)
    await assertAgreeing(url)
  }))

/** Searches both for each word, and pairs of them. */
async function same({ postgres, sqlite }: Pick<Pair, 'postgres' | 'sqlite'>, scope: Scope): Promise<void> {
  for (const [at, word] of words.entries()) {
    const query = {
      terms: queryTermsOf(`${word} ${words[(at * 3) % words.length]}`),
      alike: [[{ text: word.slice(0, 2), isPrefix: true }]],
      vector: vector(at / 3),
      candidates: 12,
      ...(at % 3 === 0 && { filter: { conversation: 'c1' } }),
    }
    const read = async ({ memories }: Storage) => {
      const { candidates, ...figures } = await memories.search(scope, query)
      const found = candidates.map(({ cosine, ...rest }) => ({
        ...rest,
        cosine: cosine === undefined ? undefined : Math.round(cosine * 1e4),
      }))
      return { ...figures, found: found.sort((one, other) => (one.entry.id < other.entry.id ? -1 : 1)) }
    }
    assert.equal(await read(postgres), await read(sqlite))
  }
}

/** Asserts that the postings are those of the terms, and that the counters are those of the rows. */
async function assertAgreeing(url: string): Promise<void> {
  const db = openDatabase(url)
  try {
    const texts = await db.rows<{ memory_id: number; terms: string; about: string; context: string }>(
      'SELECT memory_id, terms, about, context FROM memory_terms',
    )
    const expected = new Set<string>()
    for (const { memory_id, terms, about, context } of texts) {
      const around = `${about} ${context.replace(/^\S*/gm, '')}`
      for (const term of terms.split(' ')) expected.add(`own ${memory_id} ${indexedTerm(term)}`)
      for (const term of around.split(/\s+/)) if (term) expected.add(`around ${memory_id} ${indexedTerm(term)}`)
    }
    const found = new Set<string>()
    for (const set of ['own', 'around'] as const)
      for (const row of await db.rows<{ scope_id: number; term: string; block: number; bytes: Buffer }>(
        `SELECT scope_id, term, block, ${set} AS bytes FROM memory_posting`,
      ))
        for (const number of readBlock(row.block, row.bytes))
          found.add(`${set} ${row.scope_id * 2 ** 24 + number} ${row.term}`)
    assert.equal([...found].sort(), [...expected].sort())
    const wrong = await db.rows(
      `SELECT s.*, u.memories AS of_user FROM memory_scope s LEFT JOIN user_usage u USING (user_id)
        WHERE s.memories <> (SELECT count(*) FROM memory m WHERE m.scope_id = s.scope_id)
           OR s.length <> (SELECT coalesce(sum(char_length(terms)), 0) FROM memory_terms t WHERE t.memory_id >> 24 = s.scope_id)
           OR s.bytes <> (SELECT coalesce(sum(octet_length(content) + octet_length(metadata)), 0) FROM memory m WHERE m.scope_id = s.scope_id)
              + 32 * (SELECT count(*) FROM memory_vector v WHERE v.memory_id >> 24 = s.scope_id)
           OR u.memories IS DISTINCT FROM (SELECT sum(memories) FROM memory_scope o WHERE o.user_id = s.user_id)`,
    )
    assert.equal(wrong, [])
  } finally {
    await db.close()
  }
}

test('many writers of one scope and of one user at once, beside wipes, leave index and counters whole', () =>
  withPair(async ({ postgres, url }) => {
    const other = await openStorage({ ...storageIn(mkdtempSync(join(tmpdir(), 'aichat-postgres-memories-'))), url })
    try {
      const scopes = [await makeScope(postgres, 'p'), await makeScope(postgres, 'q')]
      const below = randomFrom(5)
      const writes = Array.from({ length: 80 }, (_, at) => () => {
        // Eight connections at once take longer than a second to be made on a busy machine.
        const { memories, patiently } = at % 2 === 0 ? postgres : other
        const scope = scopes[at % 3 === 0 ? 1 : 0]!
        if (at % 20 === 19)
          return patiently(async () => void (await memories.wipe(scope, at % 40 === 19 ? {} : { before: noon + 20 })))
        const given = Array.from({ length: 3 }, () => ({
          content: `${words[below(10)]} ${words[below(10)]}`,
          timestamp: noon + below(60),
          importance_score: 0.5,
          metadata: {},
          vector: vector(at),
        }))
        const policy = { ...keepAll, maxMemories: 20, cleanup: true }
        return patiently(async () => void (await memories.add(scope, given, policy)))
      })
      // A statement that waits 10 s for the locks of others fails: eight writers hold up each other for less.
      const writer = async () => {
        for (let write = writes.shift(); write; write = writes.shift()) await write()
      }
      await Promise.all(Array.from({ length: 8 }, writer))
      await postgres.memories.clear()
      await assertAgreeing(url)
    } finally {
      await other.close()
    }
  }))

run()
