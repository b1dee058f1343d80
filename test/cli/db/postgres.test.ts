// With --all only: PostgreSQL.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../helpers/folders.ts'
import '../../helpers/cheap-bcrypt.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { copyToPostgres } from '../../helpers/storage/copies.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'

const { test, server, run } = postgresSuite('aichat db with PostgreSQL')

const password = 'database-password'

let made: string | undefined

/** The folder with some of everything that each test copies. */
async function richFolder(): Promise<string> {
  if (made === undefined) {
    made = temporaryFolder()
    await makeRichFolder(made, 20)
  }
  return made
}

process.once('exit', () => {
  if (made !== undefined) rmSync(made, { recursive: true, force: true })
})

/** A home with some of everything in its data folder. */
async function withHome(work: (home: Scene) => Promise<void>, rich = true): Promise<void> {
  using home = openFastHome()
  if (rich) cpSync(await richFolder(), home.folder, { recursive: true })
  const db = (words: string, environment: Record<string, string> = {}) =>
    home.aichat(['db', ...words.split(' ')], { environment })
  await work({ ...home, db })
}

type Scene = ReturnType<typeof openFastHome> & {
  readonly db: (
    words: string,
    environment?: Record<string, string>,
  ) => ReturnType<ReturnType<typeof openFastHome>['aichat']>
}

test('a folder that moved to PostgreSQL with an earlier build is not used, and the mark can be removed', () =>
  withHome(async ({ db, aichat, folder }) => {
    const mark = join(folder, 'aichat.db.moved')
    writeFileSync(mark, '{}')
    for (const words of [
      ['--local', 'persona', 'list'],
      ['serve', 'api', '--port', '0'],
      ['db', 'check'],
      ['backup', 'create'],
    ]) {
      const refused = await aichat(words)
      assert.is(refused.code, 78, words.join(' '))
      assert.match(refused.stderr, /The data of .* moved to the database that .*\n.*DATABASE_URL/)
    }
    rmSync(mark)
    assert.is((await db('check')).code, 0)
  }))

test('a database that cannot be looked at is refused with its reason, and without its password', () =>
  withHome(async ({ db }) => {
    const url = await server().newDatabase()
    const cases: readonly (readonly [url: string, code: number, text: RegExp])[] = [
      [`${url}_not_there`, 78, /does not exist/],
      [url.replace(password, 'wrong'), 78, /password authentication failed/],
      ['postgres://a:secret-word@127.0.0.1:1/x', 69, /cannot be reached/],
    ]
    for (const [address, code, text] of cases) {
      const refused = await db('check', { DATABASE_URL: address })
      assert.is(refused.code, code, `${address}: ${refused.stderr}`)
      assert.match(refused.stderr, text)
      assert.not.match(refused.stderr, /secret-word|database-password/)
    }
  }))

test('check reads everything, and tells what was changed by another program', () =>
  withHome(async ({ db, folder }) => {
    const url = await server().newDatabase()
    await copyToPostgres(folder, url)
    const shared = await db('check', { DATABASE_URL: url })
    assert.is(shared.code, 0, shared.stdout)
    assert.match(shared.stdout, /^whole +postgresql:.*\n +3 personas verified\n/)
    const name = new URL(url).pathname.slice(1)
    await server().query(`UPDATE adaptation SET record = replace(record, 'contract', 'changed')`, name)
    await server().query('UPDATE ledger_day SET requests = requests + 1', name)
    const altered = await db('check --json', { DATABASE_URL: url })
    assert.is(altered.code, 1)
    assert.match(altered.stdout, /persona p: adaptation_log\[0\]/)
    assert.match(altered.stdout, /ledger: /)
  }))

run()
