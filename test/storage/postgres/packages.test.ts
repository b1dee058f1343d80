// With --all only: PostgreSQL.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeWhole } from '../../../src/personas/package/archive.ts'
import { createBackups } from '../../../src/personas/package/backup.ts'
import { createPackageWriter, performTask } from '../../../src/personas/package/write-package.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { rejects } from '../../helpers/rejection.ts'
import {
  backup,
  contents,
  incoming,
  keepAll,
  makeScope,
  memory,
  persona,
  publish,
  whole,
} from '../../helpers/storage/samples.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { readPackage, writePackage } from '../contract/backup-files.ts'

const { test, server, run } = postgresSuite('whole personas in PostgreSQL')

const scope = { personaId: 'p', userId: 'ada' }
const many = 120

interface Place {
  open(): Promise<Storage>
  /** Rows as text, asked by another program. */
  query(sql: string): Promise<readonly (readonly string[])[]>
  /** The files of packages on the machines of all instances. */
  files(): readonly string[]
  /** Sessions inside of a transaction. */
  inTransaction(): Promise<number>
  readonly name: string
}

async function inDatabase(work: (place: Place) => Promise<void>): Promise<void> {
  const url = await server().newMigrated()
  const name = new URL(url).pathname.slice(1)
  const opened: Storage[] = []
  const folders: string[] = []
  const query = (sql: string) => server().query(sql, name)
  try {
    await work({
      name,
      query,
      async open() {
        const folder = mkdtempSync(join(tmpdir(), 'aichat-postgres-packages-'))
        folders.push(folder)
        const storage = await openStorage({ ...storageIn(folder), url })
        opened.push(storage)
        return storage
      },
      files: () =>
        folders.flatMap((folder) =>
          readdirSync(folder).includes('backups') ? readdirSync(join(folder, 'backups')) : [],
        ),
      async inTransaction() {
        const rows = await query(
          `SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
        )
        return rows.length
      },
    })
  } finally {
    for (const storage of opened) await storage.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** The rows of all tables with something of personas. */
async function rowsLeft({ query }: Place): Promise<string> {
  const [row] = await query(`SELECT
    (SELECT count(*) FROM persona) + (SELECT count(*) FROM memory_scope) + (SELECT count(*) FROM memory)
      + (SELECT count(*) FROM memory_posting) + (SELECT count(*) FROM memory_carried) + (SELECT count(*) FROM adaptation_log)
      + (SELECT count(*) FROM persona_backup_file) + (SELECT count(*) FROM persona_backup_part)`)
  return row![0]!
}

test('an import whose connection ends before its publication leaves nothing, and the next one is written', () =>
  inDatabase(async (place) => {
    const storage = await place.open()
    await makeScope(storage, 'q')
    const staged = await storage.packages.stage(whole('p', 'ada', many))
    assert.is(await place.inTransaction(), 1)
    await server().terminate(place.name)
    await rejects(staged.publish({}), 'unavailable', /cannot be reached/)
    await rejects(staged.publish({}), 'unavailable', /cannot be reached/)
    await staged.discard()
    assert.is(await storage.personas.find('p'), undefined)
    assert.equal(await publish(storage, whole('p', 'ada', many)), { kind: 'done', memories: many })
    assert.is((await contents(storage, scope)).length, many)
  }))

test('an aborted import gives its connection back, and nothing is left of it', () =>
  inDatabase(async (place) => {
    const storage = await place.open()
    for (const at of [0, 60, many - 1]) {
      const controller = new AbortController()
      const memories = function* () {
        let count = 0
        for (const each of incoming(many)) {
          if (count++ === at) controller.abort(new Error('left'))
          yield each
        }
      }
      await assertLeft(writeWhole(storage.packages, whole('p', 'ada', many, { memories }), {}, controller.signal))
    }
    const staged = await storage.packages.stage(whole('p', 'ada', many))
    await staged.discard()
    await staged.discard()
    assert.is(await place.inTransaction(), 0)
    assert.is(await rowsLeft(place), '0')
  }))

test('while an import is staged, everything else of its owner is written without a wait', () =>
  inDatabase(async (place) => {
    const [one, two] = [await place.open(), await place.open()]
    await makeScope(one, 'p')
    const staged = await one.packages.stage(whole('p', 'ada', many, { how: 'replace' }))
    await two.personas.save(persona('q', 'ada'))
    await two.memories.add({ personaId: 'q', userId: 'ada' }, [memory('tea')], keepAll)
    await two.memories.add(scope, [memory('cocoa')], keepAll)
    assert.equal(await publish(two, whole('r', 'ada', many)), { kind: 'done', memories: many })
    await staged.discard()
    assert.equal(await contents(two, scope), ['cocoa'])
  }))

test('more imports than connections for them are all written, one after the other', () =>
  inDatabase(async (place) => {
    const storage = await place.open()
    const ids = Array.from({ length: 9 }, (_, at) => `p${at}`)
    const outcomes = await Promise.all(ids.map((id) => publish(storage, whole(id, 'ada', many))))
    assert.equal(
      outcomes.map(({ kind }) => kind),
      ids.map(() => 'done'),
    )
    assert.is((await storage.personas.list('ada')).length, ids.length)
  }))

test('a removed persona leaves no row behind, its backups included, also where another instance removes the rest', () =>
  inDatabase(async (place) => {
    const [one, two] = [await place.open(), await place.open()]
    for (const [storage, remover] of [
      [one, one],
      [one, two],
    ] as const) {
      if (remover === two) one.deferCleanup()
      await publish(storage, whole('p', 'ada', 1200))
      await writePackage(storage, 'b', Buffer.alloc(2 ** 21))
      await storage.backups.add(scope, backup('b', 'p', { bytes: 2 ** 21 }))
      await storage.backupFiles.publish('b')
      assert.ok(await storage.personas.remove('p', 'ada'))
      assert.is((await readPackage(two, 'b')) !== undefined, remover === two)
      await remover.packages.sweep()
      assert.is(await rowsLeft(place), '0')
      assert.equal(await place.query('SELECT count(*) FROM user_usage'), [['0']])
    }
  }))

test('a backup that one instance makes is restored by another one, and no file of it stays on either', () =>
  inDatabase(async (place) => {
    const [one, two] = [await place.open(), await place.open()]
    await publish(one, whole('p', 'ada', many))
    const { backup_id } = await (await backupsOf(one)).create((await one.personas.find('p'))!)
    await two.memories.wipe(scope, {})
    const restored = await (await backupsOf(two)).restore((await two.personas.find('p'))!)
    assert.equal([restored.restored, restored.memories], [backup_id, many])
    assert.is((await contents(one, scope)).length, many)
    assert.is((await one.backups.list(scope)).length, 2)
    assert.equal(place.files(), [])
  }))

test('what one instance forgets is gone from the backup that another one made, two at once included', () =>
  inDatabase(async (place) => {
    const [one, two] = [await place.open(), await place.open()]
    await publish(one, whole('p', 'ada', many))
    const persona = (await one.personas.find('p'))!
    const { backup_id } = await (await backupsOf(one)).create(persona)
    const [first, second] = await contents(one, scope)
    const ids = (await one.memories.list(scope, { limit: many, offset: 0 })).entries
    const idOf = (content: string | undefined) => ids.find((entry) => entry.content === content)!.id
    const forgetting = async (storage: Storage, id: string) =>
      (await backupsOf(storage)).forget(persona, { ids: [id] }, () => storage.memories.remove(scope, id))
    await Promise.all([forgetting(one, idOf(first)), forgetting(two, idOf(second))])
    assert.is((await one.backups.list(scope))[0]!.memories, many - 2)
    await (await backupsOf(two)).restore(persona, backup_id)
    const restored = await contents(one, scope)
    assert.is(restored.length, many - 2)
    assert.not(restored.includes(first!) || restored.includes(second!))
    assert.equal(place.files(), [])
  }))

async function assertLeft(work: Promise<unknown>): Promise<void> {
  await work.then(
    () => assert.unreachable(),
    (reason) => assert.is(reason.message, 'left'),
  )
}

run()

function backupsOf(storage: Storage) {
  return createBackups({
    archive: storage.packages,
    writer: createPackageWriter({
      archive: storage.packages,
      producer: 'test',
      runInChild: (task) => performTask(storage.packages, task),
    }),
    store: storage.backups,
    files: storage.backupFiles,
    memories: storage.memories,
    now: Date.now,
    newId: () => crypto.randomUUID(),
  })
}
