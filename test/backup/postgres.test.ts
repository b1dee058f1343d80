// With --all only: PostgreSQL.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import '../helpers/cheap-bcrypt.ts'
import { postgresSuite } from '../helpers/postgres/suite.ts'
import { serveHere } from '../helpers/program/daemon.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { copyToPostgres } from '../helpers/storage/copies.ts'
import { dumpOf } from '../helpers/storage/dump.ts'
import { makeRichFolder } from '../helpers/storage/rich-folder.ts'

const { test, server, run } = postgresSuite('backups of everything on PostgreSQL')

const secret = 'a secret of the tests that all instances share'

/** A home with its data in PostgreSQL, and the copy that was moved there. */
async function withShared(work: (scene: Scene) => Promise<void>): Promise<void> {
  const url = await server().newDatabase()
  using home = openFastHome({ JWT_SECRET: secret, DATABASE_URL: url })
  await makeRichFolder(home.folder, 20)
  const before = dumpOf(home.folder)
  await copyToPostgres(home.folder, url)
  // This machine has no files of its own any more.
  for (const name of ['aichat.db', 'aichat.db.initialised', 'plugins', 'backups'])
    rmSync(join(home.folder, name), { recursive: true, force: true })
  await work({ ...home, url, before })
}

type Scene = ReturnType<typeof openFastHome> & { readonly url: string; readonly before: ReturnType<typeof dumpOf> }

test('a backup holds the database with its plugins and packages, and is restored into an empty one, or into a data folder', () =>
  withShared(async ({ aichat, folder, before }) => {
    const made = await aichat(['--local', 'backup', 'create'])
    assert.is(made.code, 0, made.stderr)
    const file = join(folder, 'full-backups', made.stdout.trim())
    const verified = JSON.parse((await aichat(['--local', 'backup', 'verify', '--json'])).stdout)
    assert.is(verified.users, 2)
    assert.not(existsSync(join(folder, 'backup-work')))
    assert.ok(!existsSync(join(folder, 'aichat.db')))

    const filled = await aichat(['--local', 'backup', 'restore', file, '--yes'])
    assert.is(filled.code, 73)
    assert.match(filled.stderr, /is not empty/)

    // The database was lost: instances refuse an empty one, and a restore fills it.
    const empty = { DATABASE_URL: await server().newDatabase() }
    assert.is((await aichat(['--local', 'persona', 'list'], { environment: empty })).code, 78)
    const restored = await aichat(['--local', 'backup', 'restore', file, '--yes', '--as-backed-up'], {
      environment: empty,
    })
    assert.is(restored.code, 0, restored.stderr)
    assert.match(restored.stderr, /with 2 users/)
    const listed = await aichat(['--local', '--as', 'ada', 'persona', 'list', '--json'], { environment: empty })
    assert.equal(pluck(JSON.parse(listed.stdout).personas, 'id'), ['p'])
    const instance = await serveHere({ ...empty, JWT_SECRET: secret }, folder)
    await instance.stop()

    using other = openFastHome()
    const apart = await other.aichat(['--local', 'backup', 'restore', file, '--yes', '--as-backed-up'])
    assert.is(apart.code, 0, apart.stderr)
    const after = dumpOf(other.folder)
    for (const name of Object.keys(before).filter((name) => !/^(?:login_session|audit)$/.test(name)))
      assert.equal(after[name], before[name], name)
  }))

test('a backup of a data folder is restored into PostgreSQL', async () => {
  using home = openFastHome()
  await makeRichFolder(home.folder, 20)
  const made = await home.aichat(['--local', 'backup', 'create'])
  const environment = { JWT_SECRET: secret, DATABASE_URL: await server().newDatabase() }
  const restored = await home.aichat(['--local', 'backup', 'restore', made.stdout.trim(), '--yes'], { environment })
  assert.is(restored.code, 0, restored.stderr)
  assert.match(restored.stderr, /1 API key was revoked/)
  const list = await home.aichat(['--local', '--as', 'ada', 'persona', 'list'], { environment })
  assert.match(list.stdout, /\bp\b/)
})

run()
