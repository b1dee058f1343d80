// With --all only: a killed process.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { cheapHashes } from '../helpers/cheap-bcrypt.ts'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const inner = suite('a start after a fault')
const small = mountSmall()
const full = small === undefined ? inner.skip : inner
const libfaketime = haveProgram('faketime') ? findLibrary() : undefined
const clocks = libfaketime === undefined ? inner.skip : inner

inner.after(() => {
  if (small === undefined) return
  spawnSync('umount', [small])
  rmSync(small, { recursive: true, force: true })
})

full('a full disk and SIGKILL lose nothing that was acknowledged, and the next start writes again', async () => {
  const home = small!
  const before = await spawnDaemon({}, home)
  const { token } = await register(before)
  const acknowledged: string[] = []
  const create = async (daemon: SpawnedDaemon, name: string) => {
    const body = { name, model: 'm', description: 'x'.repeat(2000) }
    const { status, body: made } = await daemon.call('POST', '/api/personas', { token, body })
    if (status === 201) acknowledged.push(made.id as string)
    return status
  }
  assert.is(await create(before, 'first'), 201)
  fill(join(home, 'ballast'))
  let status = 201
  for (let count = 0; count < 2000 && status === 201; count++) status = await create(before, `persona ${count}`)
  assert.ok(status >= 500, `a full disk was answered with ${status}`)
  assert.is((await before.call('GET', '/api/auth/me', { token })).status, 200, 'reading goes on')
  await kill(before)

  const still = await spawnDaemon({}, home).catch((reason: Error) => reason)
  if (!(still instanceof Error)) await kill(still)
  rmSync(join(home, 'ballast'))
  const after = await spawnDaemon({}, home)
  try {
    for (const id of acknowledged) assert.is((await after.call('GET', `/api/personas/${id}`, { token })).status, 200)
    assert.is(await create(after, 'last'), 201)
    assert.is(await after.stop(), 0)
  } finally {
    await kill(after)
  }
})

clocks(
  'a clock a year ahead ends logins and loses nothing; set right, it has brought none to life that was ended',
  async () => {
    const home = temporaryFolder()
    const at = (offset: string) =>
      spawnDaemon(
        { ...cheapHashes, LD_PRELOAD: libfaketime!, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
        home,
      )
    const { call, ...now } = await at('+0d')
    const { token } = await register({ call })
    const ended = (await login({ call })).token
    assert.is((await call('POST', '/api/auth/logout', { token: ended })).status, 200)
    for (let count = 0; count < 5; count++)
      await call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Wr0ngpass' } })
    const me = async (daemon: Pick<SpawnedDaemon, 'call'>, one: string) =>
      (await daemon.call('GET', '/api/auth/me', { token: one })).status
    assert.equal([await me({ call }, token), await me({ call }, ended)], [200, 401])
    await kill(now)
    const ahead = await at('+365d')
    assert.equal([await me(ahead, token), await me(ahead, ended)], [401, 401])
    const refused = await ahead.call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Passw0rd' } })
    assert.is(refused.status, 429, 'setting the date frees no address')
    await kill(ahead)

    const behind = await at('-365d')
    assert.equal(
      [await me(behind, token), await me(behind, ended)],
      [401, 401],
      'a login that begins in the future is none',
    )
    await kill(behind)

    const right = await at('+0d')
    assert.equal([await me(right, token), await me(right, ended)], [200, 401])
    assert.is(await right.stop(), 0)
  },
)

inner.run()

async function register({ call }: Pick<SpawnedDaemon, 'call'>): Promise<{ token: string }> {
  const { status, body } = await call('POST', '/api/auth/register', { body: { username: 'ada', password: 'Passw0rd' } })
  assert.is(status, 201)
  return body as { token: string }
}

async function login({ call }: Pick<SpawnedDaemon, 'call'>): Promise<{ token: string }> {
  const { status, body } = await call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Passw0rd' } })
  assert.is(status, 200)
  return body as { token: string }
}

async function kill({ child }: Pick<SpawnedDaemon, 'child'>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A folder with 8 MiB of disk; undefined where this user may mount none. */
function mountSmall(): string | undefined {
  const folder = temporaryFolder()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder], { stdio: 'ignore' })
  if (status === 0) return folder
  rmSync(folder, { recursive: true })
  process.stdout.write('skipped: a small disk cannot be mounted here\n')
  return undefined
}

/** Writes until the disk takes no more. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(64 * 1024, 1)
  try {
    for (;;) writeSync(file, piece)
  } catch (reason) {
    assert.is((reason as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(file)
  }
  assert.ok(statSync(path).size > 0)
}

/** The library that `faketime` preloads. */
function findLibrary(): string | undefined {
  for (const folder of ['/usr/lib', '/usr/lib64'])
    for (const name of safeList(folder)) {
      const path = join(folder, name, 'faketime', 'libfaketimeMT.so.1')
      if (existsSync(path)) return path
    }
  return undefined
}

function safeList(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
