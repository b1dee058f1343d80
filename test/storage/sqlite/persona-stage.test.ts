// With --all only: a whole sample.
import * as assert from 'uvu/assert'
import type { NewMemory } from '../../../src/personas/memory/memory.ts'
import { memoryOf, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const stages = suite('stages of personas')

/** Memories of five conversations, told to and fro in time, some at the same time, some too far apart to be context. */
const told: readonly NewMemory[] = Array.from({ length: 330 }, (_, at) => ({
  ...memoryOf(at, 48),
  content: `Memory ${at}${at % 4 ? '' : '?'} is of word${at % 11} and word${at % 7}. ${at % 90 ? '' : 'much text '.repeat(450)}`,
  timestamp: Date.UTC(2026, 0, 1) + ((at * 37) % 101) * 900_000,
  metadata: { conversation: `c${at % 5}`, speaker: at % 2 ? 'Ada' : 'Bob' },
}))

stages('memories that are imported have the rows, terms and context of those that were stored one by one', async () => {
  const shop = await openShop()
  try {
    const persona = await shop.stock('u1', 0)
    for (const memory of told) await shop.addMemories(persona, [memory])
    const { path } = await shop.packages.export(persona, { format: 'container', embeddings: true })
    const { persona_id } = await shop.packages.import('u2', path, { mode: 'create', dry_run: false })
    assert.equal(rowsOf(shop, persona_id), rowsOf(shop, persona.id))
    // Compares the index with the terms that it is made of.
    shop.db.exec("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
    const copy = (await shop.find(persona_id))!
    const { problems } = await shop.packages.verifyStored(copy)
    assert.equal(problems, [])
    shop.db.prepare("UPDATE memory SET content = 'Other' WHERE memory_id = (SELECT max(memory_id) FROM memory)").run()
    assert.is((await shop.packages.verifyStored(copy)).valid, false)
  } finally {
    shop.close()
  }
})

stages.run()

function rowsOf({ db }: Shop, personaId: string): unknown {
  return db
    .prepare(
      `SELECT content, digest, timestamp, importance, worth, category, pinned, conversation, metadata, terms, about, context,
          vector, bits, memory_scope.memories, memory_scope.length, memory_scope.bytes
        FROM memory JOIN memory_scope USING (scope_id) JOIN memory_terms USING (memory_id) JOIN memory_vector USING (memory_id)
        JOIN memory_sketch USING (memory_id) WHERE persona_id = ? ORDER BY memory_id`,
    )
    .all(personaId)
}
