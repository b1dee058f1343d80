import { existsSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { DaemonEnded, goodPassword, type SpawnedDaemon } from '../helpers/program/daemon.ts'
import { childrenOf, fillDisk, pause, setReadOnly, type World, write } from './world.ts'

/** One kind of harm: it begins with a daemon that works and ends with one that should. */
export interface Fault {
  readonly name: string
  /** Why it cannot be done here; undefined where it can. */
  readonly missing?: (world: World) => string | undefined
  run(world: World, daemon: SpawnedDaemon, random: () => number, round: number): Promise<SpawnedDaemon>
}

const writers = 3

/** Runs the writers beside some work, and waits for their end. */
async function underLoad(world: World, daemon: SpawnedDaemon, round: number, work: () => Promise<void>): Promise<void> {
  const over = new AbortController()
  const running = Array.from({ length: writers }, (_, writer) =>
    write(world, daemon.url, `r${round}w${writer}`, over.signal),
  )
  try {
    await work()
  } finally {
    over.abort()
    await Promise.all(running)
  }
}

const noDisk = ({ hasDisk }: World) => (hasDisk ? undefined : 'a disk of its own cannot be mounted by this user')

const library = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64']
  .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
  .find((path) => existsSync(path))

const dayMs = 86_400_000

export const faults: readonly Fault[] = [
  {
    name: 'SIGKILL',
    async run(world, daemon, random, round) {
      await underLoad(world, daemon, round, async () => {
        await pause(200 + random() * 1000)
        await daemon.stop('SIGKILL')
      })
      return world.start()
    },
  },
  {
    name: 'full disk',
    missing: noDisk,
    async run(world, daemon, random, round) {
      await underLoad(world, daemon, round, async () => {
        await pause(100 + random() * 300)
        const makeRoom = fillDisk(world)
        await pause(400 + random() * 400)
        const { status } = await daemon.call('GET', '/api/users?limit=1', { token: world.admin })
        if (status !== 200) world.broken.push(`with a full disk the list of users is answered with ${status}`)
        if (random() < 0.3) await daemon.stop('SIGKILL')
        makeRoom()
        await pause(300)
      })
      // It must go on by itself once there is room.
      return daemon.child.signalCode === null ? daemon : world.start()
    },
  },
  {
    name: 'read-only folder',
    missing: noDisk,
    async run(world, daemon) {
      await daemon.stop()
      setReadOnly(world, true)
      try {
        const started = await world.start()
        world.broken.push('a daemon started on a read-only folder')
        await started.stop()
      } catch (reason) {
        if (!(reason instanceof DaemonEnded)) throw reason
        if (![74, 75, 78].includes(reason.code ?? 0) || !/cannot|may not|read-only|permission/i.test(reason.message))
          world.broken.push(
            `on a read-only folder the daemon ended with ${reason.code}: ${reason.message.slice(0, 300)}`,
          )
      } finally {
        setReadOnly(world, false)
      }
      return world.start()
    },
  },
  {
    name: 'locked database',
    async run(world, daemon, random, round) {
      await underLoad(world, daemon, round, async () => {
        await pause(100 + random() * 200)
        const other = new BetterSqlite3(join(world.home, 'aichat.db'), { timeout: 5000 })
        other.exec('BEGIN IMMEDIATE')
        // Beyond the time that a write waits, in every other round.
        await pause(random() < 0.5 ? 500 : 6_500)
        other.exec('ROLLBACK')
        other.close()
        await pause(300)
      })
      return daemon
    },
  },
  {
    name: 'clock jump',
    missing: () => (library === undefined ? 'faketime is not installed' : undefined),
    async run(world, daemon, random) {
      await daemon.stop()
      const days = random() < 0.5 ? 365 : -365
      const faked = await world.start({
        LD_PRELOAD: library!,
        FAKETIME: `${days > 0 ? '+' : '-'}${Math.abs(days)}d`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      })
      // A token lasts for a week: a year later it does not.
      const token = [...world.acknowledged.tokens].at(-1) ?? world.admin
      const { status } = await faked.call('GET', '/api/auth/me', { token })
      if (days > 0 && status !== 401) world.broken.push(`a year later a token of a week is answered with ${status}`)
      const login = await faked.call('POST', '/api/auth/login', { body: { username: 'ada', password: goodPassword } })
      if (login.status !== 200) world.broken.push(`${days} days away a valid login is answered with ${login.status}`)
      else {
        const { expires_at } = login.body
        if (Math.abs(expires_at - (Date.now() + (days + 7) * dayMs)) > dayMs)
          world.broken.push(`${days} days away a login lasts until ${new Date(expires_at).toISOString()}`)
      }
      await faked.stop(random() < 0.5 ? 'SIGKILL' : 'SIGTERM')
      return world.start()
    },
  },
  {
    name: 'child without memory',
    async run(world, daemon, random, round) {
      // The system ends a process that takes too much memory with SIGKILL.
      await underLoad(world, daemon, round, async () => {
        const asked = [
          daemon.call('POST', '/api/backups', { token: world.admin, body: {} }),
          ...[...world.acknowledged.personas]
            .slice(-2)
            .map((id) => daemon.call('POST', `/api/personas/${id}/backup`, { token: world.admin, body: {} })),
        ]
        const until = performance.now() + 300 + random() * 700
        while (performance.now() < until) {
          for (const pid of childrenOf(daemon.child.pid!)) if (random() < 0.3) kill(pid)
          await pause(20)
        }
        for (const { status, body } of await Promise.all(asked))
          if (status !== 201 && status < 500)
            world.broken.push(`a task whose process was killed: ${status} ${JSON.stringify(body)}`)
      })
      const { body } = await daemon.call('GET', '/api/backups', { token: world.admin })
      for (const { name } of body.backups ?? []) {
        const { status } = await daemon.call('POST', `/api/backups/${name}/verify`, { token: world.admin, body: {} })
        if (status !== 200) world.broken.push(`the backup ${name} is answered with ${status}`)
        await daemon.call('DELETE', `/api/backups/${name}`, { token: world.admin })
      }
      return daemon
    },
  },
]

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone by itself.
  }
}
