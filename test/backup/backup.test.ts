// Some with --all only: many processes.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { partOf, readArchive, writeArchive } from '../../src/backup/archive.ts'
import { databasePart } from '../../src/backup/manifest.ts'
import { until } from '../helpers/eventually.ts'
import '../helpers/cheap-bcrypt.ts'
import { serveHere } from '../helpers/program/daemon.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { lackChanges } from '../helpers/storage/earlier.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('backups of everything')

const password = 'Passw0rd'

/** A key that no backup may hold. */
const canary = 'sk-canary-0123456789'

/** The first installation of this file, which the others are copies of. */
let filled: ReturnType<typeof openFastHome> | undefined

test.after(() => filled?.remove())

/** An installation with an administrator, a user, a persona and a setting. */
async function filledHome(environment: Record<string, string> = {}) {
  if (!filled) {
    filled = openFastHome({ OPENAI_API_KEY: canary })
    const { run } = runsIn(filled)
    await run('setup --username ada --password-stdin', `${password}\n`)
    await run('users create bob --password-stdin', `${password}\n`)
    await run('persona create --name Muse --model m')
    await run('config set chat.model model-then')
    await run('backup create')
    renameSync(join(filled.folder, 'full-backups'), join(filled.folder, 'made'))
  }
  const home = openFastHome(environment)
  cpSync(filled.folder, home.folder, { recursive: true })
  const runs = runsIn(home)
  return {
    ...runs,
    /** Puts the backup that the first installation made of itself in its place; returns its path. */
    placeBackup() {
      renameSync(runs.path('made'), runs.path('full-backups'))
      return runs.path('full-backups', readdirSync(runs.path('full-backups'))[0]!)
    },
  }
}

function runsIn(home: ReturnType<typeof openFastHome>) {
  const run = async (words: string, input?: string) => {
    const ran = await home.aichat(['--local', ...words.split(' ')], input === undefined ? {} : { input })
    if (ran.code !== 0) throw new Error(`aichat ${words}: ${ran.code} ${ran.stderr}`)
    return ran.stdout.trim()
  }
  return { ...home, run, path: (...parts: string[]) => join(home.folder, ...parts) }
}

type Filled = Awaited<ReturnType<typeof filledHome>>

const withHome = async (work: (home: Filled) => Promise<void>, environment: Record<string, string> = {}) => {
  const home = await filledHome(environment)
  try {
    await work(home)
  } finally {
    home.remove()
  }
}

test('a backup is one file that its owner alone may read, whose parts have the sums of its manifest, and it holds no key', () =>
  withHome(async ({ run, path, placeBackup }) => {
    const made = placeBackup()
    assert.is(statSync(made).mode & 0o777, 0o600)
    assert.not(existsSync(path('backup-work')))
    const verified = JSON.parse(await run('backup verify --json'))
    assert.equal([verified.name, verified.users, verified.keys], [basename(made), 2, ['OPENAI_API_KEY']])
    assert.not.ok(gunzipSync(readFileSync(made)).includes(canary))
  }))

test('a restore brings all back, ends the logins, and keeps what was there', () =>
  withHome(async ({ aichat, run, path }) => {
    const before = await serveHere({}, path())
    const { body: login } = await before.call('POST', '/api/auth/login', { body: { username: 'ada', password } })
    await run('backup create')
    await before.stop()
    await run('persona create --name Later --model m')
    await run('config set chat.model model-now')
    const restored = await aichat(['--local', 'backup', 'restore', '--yes'])
    assert.is(restored.code, 0)
    assert.match(restored.stderr, /every login has ended/)
    assert.not.match(await run('persona list'), /Later/)
    assert.match(await run('persona list'), /Muse/)
    assert.is(await run('config get chat.model'), 'model-then')
    const aside = readdirSync(path()).find((name) => name.startsWith('before-restore-'))
    assert.ok(aside !== undefined && existsSync(path(aside, 'aichat.db')))
    const after = await serveHere({}, path())
    assert.is((await after.call('GET', '/api/auth/me', { token: login.token })).status, 401)
    const again = await after.call('POST', '/api/auth/login', { body: { username: 'ada', password } })
    assert.is(again.status, 200)
    await after.stop()
  }))

test.whole('users, passwords and API keys that ended after the backup do not come alive again by a restore', () =>
  withHome(async ({ aichat, run, path }) => {
    const key = await run('key create program --scope models')
    const stays = await run('key create other --scope models')
    await run('backup create')
    await run('users remove bob --yes')
    await run('users reset-password ada --password-stdin', 'N3wPassword\n')
    await run(
      `key revoke ${JSON.parse(await run('key list --json')).keys.find(({ name }: { name: string }) => name === 'program').id} --yes`,
    )
    const { stderr } = await aichat(['--local', 'backup', 'restore', '--yes'])
    assert.match(stderr, /1 user, removed since the backup, came back without a password: bob/)
    assert.match(stderr, /1 API key was revoked/)
    const daemon = await serveHere({}, path())
    const login = (username: string, tried: string) =>
      daemon.call('POST', '/api/auth/login', { body: { username, password: tried } })
    assert.is((await login('bob', password)).status, 401)
    assert.is((await login('ada', password)).status, 401)
    assert.is((await login('ada', 'N3wPassword')).status, 200)
    assert.is((await daemon.call('GET', '/v1/models', { token: key })).status, 401)
    assert.is((await daemon.call('GET', '/v1/models', { token: stays })).status, 200)
    await daemon.stop()
    await run('backup restore --yes --as-backed-up')
    const asThen = await serveHere({}, path())
    assert.is((await asThen.call('POST', '/api/auth/login', { body: { username: 'bob', password } })).status, 200)
    await asThen.stop()
  }),
)

test('a restore refuses while a daemon has the data open, and changes nothing', () =>
  withHome(async ({ aichat, placeBackup, path }) => {
    placeBackup()
    const daemon = await serveHere({}, path())
    const refused = await aichat(['--local', 'backup', 'restore', '--yes'])
    assert.is(refused.code, 75)
    assert.match(refused.stderr, /stop the daemon/)
    assert.is((await daemon.call('GET', '/health')).status, 200)
    assert.equal(
      readdirSync(path()).filter((name) => /restore/.test(name)),
      [],
    )
    await daemon.stop()
  }))

test('a backup that was changed, cut off or made up is told, and a restore of it changes nothing', () =>
  withHome(async ({ aichat, placeBackup, path }) => {
    const whole = readFileSync(placeBackup())
    const database = readFileSync(path('aichat.db'))
    const names = () => readdirSync(path()).filter((name) => !name.startsWith('wrong-'))
    const there = names()
    const flipped = Buffer.from(whole)
    flipped[Math.floor(whole.length / 2)]! ^= 1
    const wrong = [
      flipped,
      whole.subarray(0, whole.length - 9),
      whole.subarray(0, 300),
      Buffer.from('no backup'),
      Buffer.alloc(0),
    ]
    for (const [index, bytes] of (isWholeRun ? wrong : wrong.slice(0, 2)).entries()) {
      const file = path(`wrong-${index}.tar.gz`)
      writeFileSync(file, bytes)
      const ways = [['verify', file] as const, ['restore', file, '--yes'] as const]
      for (const words of isWholeRun ? ways : [ways[index]!])
        assert.is((await aichat(['--local', 'backup', ...words])).code, 65, `${words[0]} of wrong ${index}`)
    }
    assert.ok(readFileSync(path('aichat.db')).equals(database))
    assert.equal(names(), there)
  }))

test('a restore that is refused in an empty place leaves the place empty', async () => {
  using home = openFastHome()
  const before = readdirSync(home.folder)
  const file = join(home.folder, 'wrong.tar.gz')
  writeFileSync(file, 'no backup')
  assert.is((await home.aichat(['--local', 'backup', 'restore', file, '--yes'])).code, 65)
  assert.is((await home.aichat(['--local', 'backup', 'restore', `${file}.none`, '--yes'])).code, 66)
  assert.equal(readdirSync(home.folder), [...before, 'wrong.tar.gz'].sort())
})

test.whole(
  'what was there before restores is kept for its days, and removed by the next backup, restore or service',
  () =>
    withHome(async ({ aichat, run, path }) => {
      await run('backup create')
      const old = (name: string) => {
        mkdirSync(path(`before-restore-${name}`, 'plugins'), { recursive: true })
        return `before-restore-${name}`
      }
      const asides = () => readdirSync(path()).filter((name) => /before-restore/.test(name))
      const stamp = (days: number) =>
        new Date(Date.now() - days * 86_400_000).toISOString().replaceAll(/[-:]|\.\d+/g, '')
      const [young, past] = [old(stamp(29)), old(stamp(31))]
      writeFileSync(path(`config.json.${past}`), '{}')
      mkdirSync(path('before-restore-of-mine'))
      await run('backup create')
      assert.equal(asides(), ['before-restore-of-mine', young].sort())
      const restored = await aichat(['--local', 'backup', 'restore', '--yes'], {
        environment: { AICHAT_BACKUP_KEEP_BEFORE_RESTORE_DAYS: '28' },
      })
      assert.is(restored.code, 0, restored.stderr)
      assert.match(restored.stderr, /the data from before is in \S+; it is removed after 28 days/)
      assert.not(asides().includes(young))
      assert.is(asides().filter((name) => /^before-restore-\d/.test(name)).length, 1)
      const late = old(stamp(31))
      const daemon = await serveHere({}, path())
      await until(() => !asides().includes(late))
      await daemon.stop()
    }),
)

test.whole('a restore makes triggers, views and indexes anew, without those of another program', () =>
  withHome(async ({ aichat, placeBackup, path }) => {
    const made = placeBackup()
    const trigger = "CREATE TRIGGER grow AFTER INSERT ON audit BEGIN UPDATE user SET role = 'admin'; END"
    // Under the name of a table that SQLite makes itself.
    const hidden = `PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_stat1', 'audit', 0,
      '${trigger.replace('grow', 'sqlite_stat1').replaceAll("'", "''")}')`
    const changes = [
      trigger,
      'CREATE VIEW look AS SELECT * FROM user',
      'CREATE INDEX find_user ON user (role)',
      'DROP TRIGGER audit_bound',
      'DROP INDEX account_look; CREATE INDEX account_look ON user (role)',
      hidden,
    ]
    const changed = async (index: string, change: (db: BetterSqlite3.Database) => void): Promise<string> => {
      const folder = path(`parts-${index}`)
      mkdirSync(folder)
      const manifest = await readArchive(made, folder, () => {})
      const db = new BetterSqlite3(join(folder, databasePart))
      db.unsafeMode()
      change(db)
      db.close()
      const parts = await Promise.all(manifest.parts.map(({ name }) => partOf(name, join(folder, name))))
      const file = path(`changed-${index}.tar.gz`)
      await writeArchive(file, folder, { ...manifest, parts }, () => {})
      return file
    }
    const schema = () => {
      const db = new BetterSqlite3(path('aichat.db'), { readonly: true })
      const objects = db
        .prepare("SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql <> '' ORDER BY sql")
        .pluck()
      const found = objects.all()
      db.close()
      return found
    }
    assert.is((await aichat(['--local', 'backup', 'restore', made, '--yes'])).code, 0)
    const own = schema()
    for (const [index, change] of (isWholeRun ? changes : changes.slice(0, 1)).entries()) {
      const file = await changed(`${index}`, (db) => db.exec(change))
      const restored = await aichat(['--local', 'backup', 'restore', file, '--yes'])
      assert.is(restored.code, 0, restored.stderr)
      assert.equal(schema(), own, change)
    }
    const earlier = await changed('earlier', (db) => {
      db.exec(trigger)
      db.exec('CREATE TABLE seal_key (key_id TEXT PRIMARY KEY)')
      lackChanges(db)
    })
    assert.is((await aichat(['--local', 'backup', 'restore', earlier, '--yes'])).code, 0)
    assert.equal(schema(), own)
  }),
)

test.whole(
  'a damaged database is replaced by a restore, which then revokes all API keys, for none can be compared',
  () =>
    withHome(async ({ aichat, run, path }) => {
      await run('key create program --scope models')
      await run('backup create')
      writeFileSync(path('aichat.db'), 'this was a database')
      const { code, stderr } = await aichat(['--local', 'backup', 'restore', '--yes'])
      assert.is(code, 0, stderr)
      assert.match(stderr, /1 API key was revoked/)
      assert.match(await run('users list'), /bob/)
    }),
)

test.whole('an encrypted backup needs its passphrase, from stdin or from the secret of the installation', () =>
  withHome(async ({ aichat, run, folder }) => {
    const name = await run('backup create --passphrase-stdin', 'a long passphrase\n')
    assert.match(name, /\.tar\.gz\.age$/)
    assert.is((await aichat(['--local', 'backup', 'verify'])).code, 64)
    const wrong = await aichat(['--local', 'backup', 'verify', '--passphrase-stdin'], { input: 'another passphrase\n' })
    assert.equal([wrong.code, /passphrase is wrong/.test(wrong.stderr)], [65, true])
    const environment = { AICHAT_BACKUP_PASSPHRASE: 'a long passphrase', AICHAT_HOME: folder, HOME: folder }
    assert.is((await aichat(['--local', 'backup', 'verify'], { environment })).code, 0)
  }),
)

test.run()
