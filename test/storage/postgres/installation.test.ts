import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { installationMarkOf } from '../../../src/installation-id.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import type { PostgresSettings } from '../../../src/storage/postgres/storage.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { account } from '../../helpers/storage/samples.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'

const { test, server, run } = postgresSuite('whose database it is')

const prints = { old: 'aa'.repeat(32), current: 'bb'.repeat(32) }

test('instances that start together on a new database make one installation of it', async () => {
  const url = await server().newDatabase()
  const opened = await Promise.all([1, 2, 3].map(() => open(url)))
  assert.is(new Set(opened.map(({ shared }) => shared!.id)).size, 1)
  for (const one of opened) await one.close()
})

test('another secret is refused; one beside the one before takes its place', async () => {
  const url = await server().newDatabase()
  await (await open(url, { secretPrints: [prints.old] })).close()
  await refused(open(url, { secretPrints: [prints.current] }), /JWT_SECRET is not the one of the other instances/)
  await (await open(url, { secretPrints: [prints.current, prints.old] })).close()
  await (await open(url, { secretPrints: [prints.current] })).close()
  await refused(open(url, { secretPrints: [prints.old] }), /JWT_SECRET is not the one/)
})

test('a data folder is not used with another database, nor with one that was emptied, which stays as it is', async () => {
  const [first, second, empty] = [
    await server().newDatabase(),
    await server().newDatabase(),
    await server().newDatabase(),
  ]
  const folder = newFolder()
  await (await open(first, { folder })).close()
  await (await open(second)).close()
  await refused(open(second, { folder }), /is not the one of this installation/)
  await refused(open(empty, { folder }), /is empty, and this installation had one before/)
  assert.equal(await server().query(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`, nameOf(empty)), [])
  rmSync(installationMarkOf(folder))
  await (await open(second, { folder })).close()
})

test('accounts that are lost under a running instance open no first-time setup', async () => {
  const url = await server().newDatabase()
  const storage = await open(url)
  try {
    assert.is(await storage.accounts.isEmpty(), true)
    await storage.accounts.insert(account('ada'), true)
    assert.is(await storage.accounts.isEmpty(), false)
    await server().query('DELETE FROM account', new URL(url).pathname.slice(1))
    await refused(storage.accounts.isEmpty(), /The accounts that were in the database are gone/)
    await refused(storage.accounts.insert(account('eve'), true), /The accounts that were in the database are gone/)
  } finally {
    await storage.close()
  }
})

test('a database whose accounts were lost is refused in place of asking for a first administrator', async () => {
  const url = await server().newDatabase()
  const storage = await open(url)
  await storage.accounts.insert(account('ada'), false)
  await storage.close()
  await server().query('DELETE FROM account', nameOf(url))
  await refused(open(url), /The accounts that were in the database .* are gone/)
})

test('an older program does not start on the schema of a newer one; a child of one that runs goes on', async () => {
  const url = await server().newDatabase()
  await (await open(url)).close()
  await server().query(`INSERT INTO migration (name) VALUES ('memories-99')`, nameOf(url))
  const settings = { ...storageIn(newFolder()), url }
  for (const use of [{}, { service: true }, { create: false } as const])
    await refused(openStorage(settings, use), /was written by a newer aichat: update this one/)
  for (const use of [{ readOnly: true }, { bulk: true }, { service: true, isChecked: true }])
    await (await openStorage(settings, use)).close()
})

run()

const folders: string[] = []
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-installation-'))
  folders.push(folder)
  return folder
}

function open(url: string, more: Partial<PostgresSettings> = {}): Promise<Storage> {
  return openStorage({ ...storageIn(newFolder()), url, ...more })
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function refused(work: Promise<unknown>, message: RegExp): Promise<void> {
  try {
    const opened = await work
    if (opened instanceof Object && 'close' in opened) await (opened as Storage).close()
  } catch (reason) {
    assert.instance(reason, AppError)
    const { code, message: said, details } = reason as AppError
    assert.is(code, 'configuration')
    assert.match(said, message)
    assert.ok(details.length > 0)
    assert.not.match(`${said} ${details}`, /database-password/)
    return
  }
  assert.unreachable('it was not refused')
}
