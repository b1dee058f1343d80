import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { goodPassword, removeHome, type SpawnedDaemon, serveHere } from '../helpers/program/daemon.ts'
import { openFastHome, runMain } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the daemon and its accounts')

const goodSecret = 'k7Jq2vX9mZ4tB8nR5wY1cF6hL3pD0sAa'

/** Damage to a database file with accounts. */
const damages: readonly (readonly [string, (path: string) => void])[] = [
  ['of zero bytes', (path) => truncateSync(path, 0)],
  ['cut in half', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['that is a text', (path) => writeFileSync(path, 'Dear diary, '.repeat(1000))],
  ['with a zeroed header', (path) => overwrite(path, 0, Buffer.alloc(100))],
  ['with a page of noise', (path) => overwrite(path, 4096, Buffer.alloc(4096, 0xa5))],
  ['that is gone', (path) => rmSync(path)],
]

test('a damaged or lost database does not re-open the set-up: exit 78, with the next step, and nothing touched', async () => {
  const healthy = await serveHere()
  await register(healthy, 'ada')
  await healthy.stop()
  const original = readFileSync(join(healthy.home, 'aichat.db'))
  for (const [what, damage] of damages) {
    const path = join(healthy.home, 'aichat.db')
    writeFileSync(path, original)
    damage(path)
    const before = existsSync(path) ? readFileSync(path) : undefined
    const ended = await refused({}, healthy.home)
    assert.is(ended.code, 78, `${what}: ${ended.message}`)
    assert.match(ended.message, /Restore it from a backup/, what)
    const same = before === undefined ? !existsSync(path) : before.equals(readFileSync(path))
    assert.ok(same, `a database ${what} was touched`)
  }
  // A valid database without accounts counts as lost.
  const path = join(healthy.home, 'aichat.db')
  rmSync(path, { force: true })
  rmSync(`${path}.initialised`)
  const ended = await refused({}, healthy.home)
  assert.is(ended.code, 78)
  assert.match(ended.message, /accounts .* are gone/)
  writeFileSync(path, original)
  for (const name of [`${path}-wal`, `${path}-shm`]) rmSync(name, { force: true })
  const restored = await serveHere({}, healthy.home)
  assert.is((await restored.call('GET', '/')).body.needs_setup, false)
  await restored.stop()
  removeHome(healthy)
})

test('a secret is rotated without ending the logins', async () => {
  const first = await serveHere({ JWT_SECRET: goodSecret })
  const { token } = await register(first, 'ada')
  await first.stop()
  const next = goodSecret.split('').reverse().join('')
  const second = await serveHere({ JWT_SECRET: next, JWT_SECRET_PREVIOUS: goodSecret }, first.home)
  assert.is((await second.call('GET', '/api/auth/me', { token })).status, 200)
  await second.stop()
  const third = await serveHere({ JWT_SECRET: next }, first.home)
  assert.is((await third.call('GET', '/api/auth/me', { token })).status, 401)
  await third.stop()
  removeHome(third)
})

test('production starts with a good secret alone', async () => {
  const home = temporaryFolder()
  for (const secret of [undefined, 'short', 'change-me-in-production-change-me-now', 'a'.repeat(64)]) {
    const ended = await refused({ NODE_ENV: 'production', ...(secret && { JWT_SECRET: secret }) }, home)
    assert.is(ended.code, 78, secret)
    assert.match(ended.message, /JWT_SECRET/)
    if (secret) assert.not.ok(ended.message.includes(secret), 'the secret itself is not shown')
  }
  const weak = await refused(
    { NODE_ENV: 'production', JWT_SECRET: goodSecret, DEFAULT_ADMIN_PASSWORD: 'changeme' },
    home,
  )
  assert.is(weak.code, 78)
  const daemon = await serveHere({ NODE_ENV: 'production', JWT_SECRET: goodSecret }, home)
  await daemon.stop()
  removeHome(daemon)
})

test('the default administrator comes from the settings; its password is on no pipe, only in a file of its owner', async () => {
  const given = await serveHere({ DEFAULT_ADMIN_USERNAME: 'root', DEFAULT_ADMIN_PASSWORD: 'Chosen-0ne' })
  assert.match(given.output.stderr, /"root\\" was created/)
  assert.not.match(given.output.stderr, /Chosen-0ne/)
  const login = await given.call('POST', '/api/auth/login', { body: { username: 'root', password: 'Chosen-0ne' } })
  assert.equal([login.status, login.body.user.role, login.body.user.email], [200, 'admin', 'admin@localhost'])
  assert.is((await given.call('GET', '/api/auth/me', { token: login.body.token })).body.must_change_password, true)
  await given.stop()
  const again = await serveHere({ DEFAULT_ADMIN_PASSWORD: 'An0ther-one' }, given.home)
  const stale = await again.call('POST', '/api/auth/login', { body: { username: 'admin', password: 'An0ther-one' } })
  assert.is(stale.status, 401, 'only while there is no user')
  await again.stop()
  removeHome(again)

  const single = await serveHere({ SINGLE_USER_MODE: 'true' })
  const path = /the password is in (\S+)/.exec(single.output.stderr)![1]!
  assert.is(statSync(path).mode & 0o777, 0o600)
  const password = readFileSync(path, 'utf8').trim()
  assert.not.ok(single.output.stderr.includes(password))
  const admin = await single.call('POST', '/api/auth/login', { body: { username: 'admin', password } })
  assert.is(admin.status, 200)
  assert.is((await single.call('GET', '/api/auth/system-info')).body.mode, 'single-user')
  await single.stop()
  removeHome(single)
})

test('the command line beside a running daemon changes its users at once', async () => {
  const daemon = await serveHere()
  const home = openFastHome({ AICHAT_HOME: daemon.home })
  const setup = await home.aichat(['setup', '--username', 'ada', '--password-stdin', '--json'], { input: goodPassword })
  assert.is(setup.code, 0, setup.stderr)
  const { token, user } = JSON.parse(setup.stdout)
  assert.is((await daemon.call('GET', '/api/auth/me', { token })).status, 200)
  assert.is((await home.aichat(['users', 'reset-password', user.id])).code, 0)
  assert.is((await daemon.call('GET', '/api/auth/me', { token })).status, 401)
  await daemon.stop()
  home.remove()
  removeHome(daemon)
})

test.run()

async function register(
  { call }: Pick<SpawnedDaemon, 'call'>,
  username: string,
  password = goodPassword,
): Promise<{ token: string; user: { id: string } }> {
  const { status, body } = await call('POST', '/api/auth/register', { body: { username, password } })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** A start that must fail, in this process: its stderr and exit code. One that serves instead is ended, with exit code 0. */
async function refused(
  environment: Record<string, string>,
  home: string,
): Promise<{ readonly code: number; readonly message: string }> {
  const { code, stderr } = await runMain(['serve', 'api', '--port', '0'], {
    environment: { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', ...environment },
    signal: AbortSignal.timeout(30_000),
  })
  return { code, message: stderr }
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const content = readFileSync(path)
  bytes.copy(content, at)
  writeFileSync(path, content)
}
