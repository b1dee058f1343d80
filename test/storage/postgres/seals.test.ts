// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Scope } from '../../../src/personas/memory/memory.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { keepAll, makeScope, memory, publish, vector, whole } from '../../helpers/storage/samples.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'

const { test, server, run } = postgresSuite('seals in PostgreSQL')

interface Place {
  /** Another instance with these secrets, the one in force first. */
  open(...sealSecrets: readonly string[]): Promise<Storage>
  /** A statement of another program. */
  outside(statement: string): Promise<unknown>
}

async function inDatabase(work: (place: Place) => Promise<void>): Promise<void> {
  const url = await server().newMigrated()
  const folder = mkdtempSync(join(tmpdir(), 'aichat-postgres-seals-'))
  const opened: Storage[] = []
  try {
    await work({
      async open(...sealSecrets) {
        const storage = await openStorage({ ...storageIn(folder), url, ...(sealSecrets.length > 0 && { sealSecrets }) })
        opened.push(storage)
        return storage
      },
      outside: (statement) => server().query(statement, new URL(url).pathname.slice(1)),
    })
  } finally {
    for (const storage of opened) await storage.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function reportOf(storage: Storage, scope: Scope) {
  const snapshot = (await storage.packages.snapshot(scope))!
  try {
    return (await snapshot.seals())!
  } finally {
    await snapshot.close()
  }
}

test('a database from before them is sealed as it is, and every instance seals with the same key, also after a new secret', () =>
  inDatabase(async ({ open, outside }) => {
    const old = await open()
    const scope = await makeScope(old, 'p')
    await old.memories.add(scope, [memory('before', { vector: vector(1) })], keepAll)
    const begun = Date.now()
    const one = await open('first')
    const { since, problems } = await reportOf(one, scope)
    assert.equal(problems, [])
    assert.ok(since! >= begun)
    const other = await open('second', 'first')
    const late = await open('second')
    for (const [at, storage] of [one, other, late].entries()) {
      await storage.memories.add(scope, [memory(`of ${at}`, { vector: vector(at) })], keepAll)
      await storage.personas.save({ ...(await storage.personas.find('p'))!, name: `name ${at}` })
    }
    for (const storage of [other, late]) assert.equal(await reportOf(storage, scope), { since, problems: [] })
    await outside("UPDATE memory SET content = 'after' WHERE content = 'before'")
    assert.match((await reportOf(late, scope)).problems.join(), /it was altered by another program/)
    // Without its key everything is sealed anew.
    await late.close()
    const renewed = await reportOf(await open('third'), scope)
    assert.equal(renewed.problems, [])
    assert.ok(renewed.since! > since!)
  }))

test('they hold through imports, merges, replacements, edits, wipes and removals, of few memories and of many', () =>
  inDatabase(async ({ open, outside }) => {
    const storage = await open('secret')
    const sound = async (where: string, ...ids: readonly string[]) => {
      for (const id of ids)
        assert.equal((await reportOf(storage, { personaId: id, userId: 'ada' })).problems, [], `${where} ${id}`)
    }
    for (const count of [20, 1200]) {
      const id = `p${count}`
      const scope = { personaId: id, userId: 'ada' }
      await publish(storage, whole(id, 'ada', count))
      await storage.memories.add(scope, [memory('of its own', { id: 'own', vector: vector(3) })], keepAll)
      await sound('created', id)
      await publish(storage, whole(id, 'ada', count, { how: 'merge' }))
      await sound('merged', id)
      await publish(storage, whole(id, 'ada', count, { how: 'replace' }))
      await sound('replaced', id)
      await storage.memories.wipe(scope, {})
      await sound('wiped', id)
      await publish(storage, whole(id, 'ada', count, { how: 'replace' }))
      await outside(`UPDATE memory SET importance = 1 WHERE memory_id IN (
        SELECT min(memory_id) FROM memory JOIN memory_scope USING (scope_id) WHERE persona_id = '${id}')`)
      await publish(storage, whole(id, 'ada', count, { how: 'merge' }))
      assert.match((await reportOf(storage, scope)).problems.join(), /altered by another program/, `merged ${count}`)
      await storage.personas.remove(id, 'ada')
    }
    for (const table of ['persona', 'memory', 'memory_scope'])
      assert.equal(await outside(`SELECT count(*) FROM ${table}_seal`), await outside(`SELECT count(*) FROM ${table}`))
  }))

run()
