// Some with --all only: a whole sample.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { memoryOf, openShop } from '../../helpers/personas/persona-shop.ts'
import { lackChanges } from '../../helpers/storage/earlier.ts'
import { suite } from '../../helpers/suite.ts'

const seals = suite('seals')

seals('a database from before them is sealed once as it is, and watched from then on', async () => {
  let shop = await openShop()
  const { folder } = shop
  const [full, empty] = [await shop.stock('u1', 30), await shop.stock('u1', 0)]
  shop.db.close()
  const old = new BetterSqlite3(join(folder, 'aichat.db'))
  for (const table of ['seal_key', 'persona_seal', 'memory_scope_seal', 'memory_seal']) old.exec(`DROP TABLE ${table}`)
  lackChanges(old, 'seals-1')
  old.prepare("UPDATE memory SET content = 'Before' WHERE id = (SELECT id FROM memory LIMIT 1)").run()
  old.close()
  const before = Date.now()
  shop = await openShop(folder)
  try {
    for (const persona of [full, empty]) {
      const { problems, sealed_since } = await shop.packages.verifyStored(persona)
      assert.equal(problems, [])
      assert.ok(sealed_since! >= before)
    }
    await shop.addMemories(full, [memoryOf(100, 48)])
    assert.equal((await shop.packages.verifyStored(full)).problems, [])
    const outside = new BetterSqlite3(join(folder, 'aichat.db'))
    outside.prepare("UPDATE memory SET content = 'After' WHERE id = (SELECT id FROM memory LIMIT 1)").run()
    outside.close()
    assert.match((await shop.packages.verifyStored(full)).problems.join(), /it was altered by another program/)
    // The next start seals no sealed row again.
    shop.db.close()
    shop = await openShop(folder)
    assert.match((await shop.packages.verifyStored(full)).problems.join(), /it was altered by another program/)
  } finally {
    shop.close()
  }
})

seals('with another key everything is sealed anew, and says that this is since now', async () => {
  let shop = await openShop()
  const { folder } = shop
  const persona = await shop.stock('u1', 5)
  shop.db.close()
  rmSync(join(folder, 'seal-key'))
  const before = Date.now()
  shop = await openShop(folder)
  const { problems, sealed_since } = await shop.packages.verifyStored(persona)
  assert.equal(problems, [])
  assert.ok(sealed_since! >= before)
  rmSync(join(folder, 'seal-key'))
  assert.match((await shop.packages.verifyStored(persona)).problems.join(), /the key that they were made with is gone/)
  shop.close()
})

seals.whole(
  'hold through everything that is done to personas: backup, restore, merge, replace, wipe, another owner',
  async () => {
    const shop = await openShop()
    const sound = async (where: string) => {
      for (const id of shop.db.prepare<[], string>('SELECT id FROM persona').pluck().all())
        assert.equal((await shop.packages.verifyStored((await shop.find(id))!)).problems, [], where)
    }
    try {
      for (const count of [20, 150]) {
        const persona = await shop.stock('u1', count)
        const other = await shop.stock('u1', 3)
        const { path } = await shop.packages.export(persona, { format: 'container', embeddings: true })
        const { backup_id } = await shop.backups.create(persona)
        await shop.packages.import('u1', path, { mode: 'create', dry_run: false })
        await sound(`created ${count}`)
        await shop.packages.import('u1', path, { mode: 'merge', dry_run: false, persona: other.id })
        await sound(`merged ${count}`)
        await shop.packages.import('u1', path, { mode: 'replace', dry_run: false, persona: other.id })
        await sound(`replaced ${count}`)
        const small = await shop.backups.create(await shop.stock('u1', 0))
        await shop.packages.import('u1', path, { mode: 'create', dry_run: true })
        assert.ok(small.bytes > 0)
        await shop.addMemories(persona, [memoryOf(5000, 48), memoryOf(1, 48)])
        await shop.backups.restore(persona, backup_id)
        await sound(`restored ${count}`)
        shop.db.prepare('DELETE FROM memory WHERE memory_id % 7 = 0').run()
        shop.db
          .prepare(
            'UPDATE memory_scope SET memories = (SELECT count(*) FROM memory WHERE memory.scope_id = memory_scope.scope_id)',
          )
          .run()
        await sound(`wiped ${count}`)
        shop.db.prepare("UPDATE persona SET user_id = 'u1', name = 'Eve'").run()
        await sound(`renamed ${count}`)
        shop.db.prepare('DELETE FROM persona WHERE id = ?').run(persona.id)
        await sound(`removed ${count}`)
      }
      assert.equal(counted(shop.db), recounted(shop.db), 'what is stored is counted wrongly')
      for (const table of ['persona', 'memory', 'memory_scope'])
        assert.is(
          shop.db.prepare(`SELECT count(*) FROM ${table}_seal`).pluck().get(),
          shop.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
        )
    } finally {
      shop.close()
    }
  },
)

/** The counters of the store: see usage-schema.ts. */
function counted(db: Database): unknown {
  return db.prepare('SELECT user_id, memories, bytes FROM user_usage ORDER BY user_id').all()
}

/** The same, counted anew. */
function recounted(db: Database): unknown {
  const length = (column: string) => `ifnull(length(CAST(${column} AS BLOB)), 0)`
  return db
    .prepare(
      `WITH
         scoped AS (SELECT scope_id, user_id FROM memory_scope),
         pieces AS (
           SELECT user_id, count(memory_id) AS memories, ifnull(sum(${length('content')} + ${length('metadata')}), 0) AS bytes
             FROM scoped LEFT JOIN memory USING (scope_id) GROUP BY user_id
           UNION ALL SELECT user_id, 0, ${length('vector')} FROM memory_vector JOIN memory USING (memory_id) JOIN scoped USING (scope_id)
           UNION ALL SELECT user_id, 0, ${length('fields')} FROM memory_carried JOIN memory USING (memory_id) JOIN scoped USING (scope_id)
           UNION ALL SELECT user_id, 0, ${['name', 'description', 'system_prompt', 'parameters', 'extra'].map(length).join(' + ')} FROM persona
           UNION ALL SELECT user_id, 0, ${length('record')} FROM adaptation JOIN adaptation_log USING (log_id) JOIN persona ON persona.id = persona_id
           UNION ALL SELECT user_id, 0, ${length('learned')} FROM persona_state JOIN persona ON persona.id = persona_id
           UNION ALL SELECT user_id, 0, ${length('fields')} FROM persona_carried JOIN persona ON persona.id = persona_id
           UNION ALL SELECT user_id, 0, bytes FROM persona_backup JOIN persona ON persona.id = persona_id)
       SELECT user_id, sum(memories) AS memories, sum(bytes) AS bytes FROM pieces GROUP BY user_id ORDER BY user_id`,
    )
    .all()
}

seals.run()
