// With --all only: PostgreSQL.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../helpers/folders.ts'
import '../../helpers/cheap-bcrypt.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { serveHere } from '../../helpers/program/daemon.ts'
import { openFastHome, runMain } from '../../helpers/program/terminal.ts'
import { dumpOf } from '../../helpers/storage/dump.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'

const { test, server, run } = postgresSuite('aichat db with PostgreSQL')

const password = 'database-password'
const secret = 'a secret of the tests that all instances share'

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

test('a folder moves to PostgreSQL, which commands then use; without DATABASE_URL they say where the data is', () =>
  withHome(async ({ db, aichat }) => {
    const url = await server().newDatabase()
    const moved = await db(`migrate --to ${url}`)
    assert.is(moved.code, 0, moved.stderr)
    assert.match(
      moved.stderr,
      /moved 2 accounts, 3 personas, 51 memories, 3 conversations to postgresql:\/\/aichat@127/,
    )
    assert.not.match(moved.stderr, / %, /)
    assert.match(moved.stderr, /JWT_SECRET is the text of/)
    const shared = { DATABASE_URL: url, JWT_SECRET: secret }
    assert.match((await aichat(['--local', '--as', 'ada', 'persona', 'list'], { environment: shared })).stdout, /\bp\b/)
    for (const words of [
      ['--local', 'persona', 'list'],
      ['serve', 'api', '--port', '0'],
      ['db', 'check'],
      ['backup', 'create'],
    ]) {
      const refused = await aichat(words)
      assert.is(refused.code, 78, words.join(' '))
      assert.match(refused.stderr, /The data of .* moved to postgresql:\/\/aichat@127.*\n.*DATABASE_URL/)
      assert.not.match(refused.stderr, new RegExp(password))
    }
    assert.match((await db('status')).stdout, /moved to +postgresql:\/\/aichat@/)
    const again = await db(`migrate --to ${await server().newDatabase()}`)
    assert.is(again.code, 78)
    const back = await db('migrate --from', shared)
    assert.is(back.code, 0, back.stderr)
    assert.match(back.stderr, /unset DATABASE_URL/)
    assert.is((await aichat(['--local', '--as', 'ada', 'persona', 'list'])).code, 0)
  }))

test('a terminal shows a bar and no lines, --quiet neither', () =>
  withHome(async ({ folder }) => {
    const environment = { AICHAT_HOME: folder, HOME: folder }
    const words = async () => ['db', 'migrate', '--keep', '--to', await server().newDatabase()]
    const shown = await runMain(await words(), { environment, shown: true })
    assert.is(shown.code, 0)
    assert.match(shown.stderr, /\[#+-*\] +\d+% (?:copying|comparing) \w+/)
    assert.not.match(shown.stderr, /aichat: \d+ %/)
    assert.is((await runMain([...(await words()), '--quiet'], { environment })).stderr, '')
  }))

test('--keep copies: the folder goes on, and a second copy needs another empty database', () =>
  withHome(async ({ db, aichat }) => {
    const url = await server().newDatabase()
    const copied = await db(`migrate --keep --to ${url} --json`)
    assert.is(copied.code, 0, copied.stderr)
    assert.is(JSON.parse(copied.stdout).personas, 3)
    assert.not.match(copied.stdout, new RegExp(password))
    assert.is((await aichat(['--local', '--as', 'ada', 'persona', 'list'])).code, 0)
    const second = await db(`migrate --keep --to ${url}`)
    assert.is(second.code, 73)
    assert.match(second.stderr, /is not empty: it holds accounts, logins/)
  }))

test('the mark can be removed, and the folder is as it was before the move', () =>
  withHome(async ({ db, folder }) => {
    const before = dumpOf(folder)
    assert.is((await db(`migrate --to ${await server().newDatabase()}`)).code, 0)
    rmSync(join(folder, 'aichat.db.moved'))
    assert.equal(dumpOf(folder), before)
    assert.is((await db('check')).code, 0)
  }))

test('a target that cannot take the data is refused with its reason, and neither side is changed', () =>
  withHome(async ({ db, folder }) => {
    const before = dumpOf(folder)
    const [newer, foreign, closed] = [
      await server().newDatabase(),
      await server().newDatabase(),
      await server().newDatabase(),
    ]
    const nameOf = (url: string) => new URL(url).pathname.slice(1)
    assert.is((await db(`migrate --keep --to ${newer}`)).code, 0)
    await server().query(`DELETE FROM account; INSERT INTO migration (name) VALUES ('of-tomorrow-9')`, nameOf(newer))
    await server().query('CREATE TABLE account (id int)', nameOf(foreign))
    await server().query(
      'REVOKE CREATE ON SCHEMA public FROM public; ALTER SCHEMA public OWNER TO postgres',
      nameOf(closed),
    )
    const cases: readonly (readonly [url: string, code: number, text: RegExp])[] = [
      [newer, 78, /newer aichat.*\n.*of-tomorrow-9/],
      [foreign, 70, /./],
      [closed, 78, /refuses this installation\n.*permission denied/],
      [`${closed}_not_there`, 78, /does not exist/],
      [closed.replace(password, 'wrong'), 78, /password authentication failed/],
      ['postgres://a:secret-word@127.0.0.1:1/x', 69, /cannot be reached/],
      ['mysql://a:secret-word@127.0.0.1/x', 64, /must begin with postgres/],
      ['postgres://a:secret-word@127.0.0.1', 64, /name of one database/],
    ]
    for (const [url, code, text] of cases) {
      const refused = await db(`migrate --to ${url}`)
      assert.is(refused.code, code, `${url}: ${refused.stderr}`)
      assert.match(refused.stderr, text)
      assert.not.match(refused.stderr, /secret-word|database-password/)
    }
    assert.ok(!existsSync(join(folder, 'aichat.db.moved')))
    assert.equal(dumpOf(folder), before)
  }))

test('a folder that a daemon uses is not moved, nor is a database from which instances serve', () =>
  withHome(async ({ db, folder }) => {
    const url = await server().newDatabase()
    const daemon = await serveHere({}, folder)
    const refused = await db(`migrate --to ${url}`)
    assert.is(refused.code, 75)
    assert.match(refused.stderr, /stop the daemon/)
    await daemon.stop()
    assert.is((await db(`migrate --to ${url}`)).code, 0)
    const instance = await serveHere({ DATABASE_URL: url, JWT_SECRET: secret }, folder)
    const inUse = await db(`migrate --from ${url}`)
    assert.is(inUse.code, 75)
    assert.match(inUse.stderr, /Instances of aichat run on this database/)
    await instance.stop()
  }))

test('a folder that holds something takes nothing in, and a database that holds nothing of aichat gives nothing', () =>
  withHome(async ({ db, folder }) => {
    const [full, empty] = [await server().newDatabase(), await server().newDatabase()]
    assert.is((await db(`migrate --keep --to ${full}`)).code, 0)
    const before = dumpOf(folder)
    const refused = await db(`migrate --from ${full}`)
    assert.is(refused.code, 73)
    assert.match(refused.stderr, /is not empty: it holds accounts/)
    assert.equal(dumpOf(folder), before)
    await withHome(async (other) => {
      assert.is((await other.db(`migrate --from ${empty}`)).code, 67)
      assert.is((await other.db(`migrate --from ${full}`)).code, 0)
    }, false)
  }))

test('status tells what the database is and holds, of either kind', () =>
  withHome(async ({ db }) => {
    const sqlite = JSON.parse((await db('status --json')).stdout)
    assert.equal([sqlite.kind, sqlite.schema.pending, sqlite.installation, sqlite.moved_to], ['sqlite', 0, null, null])
    const url = await server().newDatabase()
    const unused = JSON.parse((await db('status --json', { DATABASE_URL: url })).stdout)
    assert.equal([unused.schema.newest, unused.contents], [null, []])
    await db(`migrate --keep --to ${url}`)
    const shared = JSON.parse((await db('status --json', { DATABASE_URL: url })).stdout)
    assert.equal([shared.kind, shared.version, shared.schema.pending], ['postgresql', server().version, 0])
    assert.match(shared.installation, /^[0-9a-f]{32}$/)
    const counts = (status: typeof shared) =>
      Object.fromEntries(status.contents.map(({ rows, count }: { rows: string; count: number }) => [rows, count]))
    assert.is(counts(shared).memories, 51)
    assert.is(counts(shared).accounts, counts(sqlite).accounts)
    const text = (await db('status', { DATABASE_URL: url })).stdout
    assert.match(text, /^database +postgresql:\/\/aichat@127/)
    assert.match(text, /\nmemories +51 +\d/)
  }))

test('check reads everything, and tells what was changed by another program', () =>
  withHome(async ({ db }) => {
    const url = await server().newDatabase()
    await db(`migrate --keep --to ${url}`)
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

test('a damaged folder is not moved', () =>
  withHome(async ({ db, folder }) => {
    const path = join(folder, 'aichat.db')
    const bytes = readFileSync(path)
    // Whole pages in the middle, which hold vectors and terms.
    bytes.fill(0xff, Math.floor(bytes.length / 8192 / 3) * 8192, Math.floor(bytes.length / 8192 / 3) * 2 * 8192)
    writeFileSync(path, bytes)
    const url = await server().newDatabase()
    const refused = await db(`migrate --to ${url}`)
    assert.is(refused.code, 78, refused.stderr)
    assert.match(refused.stderr, /damaged/)
    assert.equal(await server().query('SELECT count(*) FROM account', new URL(url).pathname.slice(1)), [['0']])
  }))

run()
