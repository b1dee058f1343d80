import { type ChildProcess, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryFolder } from '../helpers/folders.ts'
import { callApi, goodPassword, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'

/** Everything that a daemon acknowledged with 2xx, by which it is judged later. */
export interface Acknowledged {
  readonly users: Set<string>
  readonly removedUsers: Set<string>
  readonly personas: Set<string>
  readonly memories: Map<string, Set<string>>
  readonly tokens: Set<string>
  readonly endedTokens: Set<string>
}

/** One installation over all rounds: on a small disk of its own where this user may mount one, else in a folder. */
export interface World {
  readonly home: string
  readonly hasDisk: boolean
  readonly acknowledged: Acknowledged
  /** Promises that were not kept. */
  readonly broken: string[]
  /** Answers to valid logins and calls while a fault was there, by status. */
  readonly answers: Map<string, number>
  admin: string
  start(environment?: Record<string, string>): Promise<SpawnedDaemon>
  close(): void
}

/** Room for some thousand users: bytes. */
const diskSize = '96m'

export function openWorld(): World {
  const folder = temporaryFolder()
  const hasDisk = mounted(folder)
  const acknowledged: Acknowledged = {
    users: new Set(),
    removedUsers: new Set(),
    personas: new Set(),
    memories: new Map(),
    tokens: new Set(),
    endedTokens: new Set(),
  }
  const started: ChildProcess[] = []
  return {
    home: join(folder, 'home'),
    hasDisk,
    acknowledged,
    broken: [],
    answers: new Map(),
    admin: '',
    async start(environment = {}) {
      const daemon = await spawnDaemon({ AICHAT_LOG_LEVEL: 'error', ...environment }, join(folder, 'home'))
      started.push(daemon.child)
      return daemon
    },
    close() {
      for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      if (hasDisk) execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize},mode=0700`, 'aichat-chaos', folder], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

/** Makes the disk read-only or writable; no process may have a file of it open for writing. */
export function setReadOnly({ home }: World, readOnly: boolean): void {
  execFileSync('mount', ['-o', `remount,${readOnly ? 'ro' : 'rw'}`, join(home, '..')], { stdio: 'ignore' })
}

/** Fills the disk to its last page; the function that comes back makes room again. */
export function fillDisk({ home }: World): () => void {
  const path = join(home, '..', 'filler')
  const room = () => {
    const { bavail, bsize } = statfsSync(home)
    return bavail * bsize
  }
  let number = 0
  try {
    while (room() > 0) writeFileSync(`${path}${number++}`, Buffer.alloc(Math.min(room(), 8 * 1024 ** 2)))
  } catch {
    // Full.
  }
  return () => {
    for (let index = 0; index < number; index++) rmSync(`${path}${index}`, { force: true })
  }
}

/** The ids of a process's children. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[1]) === pid
      } catch {
        return false
      }
    })
    .map(Number)
}

/**
 * Writes until the service is gone or the signal aborts, and notes the acknowledged writes. Every answer must be one
 * that its caller can act on: 2xx, or 503 with the seconds to wait; a valid login is never 401.
 */
export async function write(world: World, url: string, prefix: string, signal: AbortSignal): Promise<void> {
  const call = callApi(url)
  const { acknowledged } = world
  let persona: string | undefined
  for (let index = 0; !signal.aborted; index++) {
    const token = world.admin
    const asked = (method: string, path: string, body?: unknown) =>
      judged(world, `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`, () =>
        call(method, path, { token, ...(body !== undefined && { body }) }),
      )
    const made = await asked('POST', '/api/users', { username: `${prefix}n${index}`, password: goodPassword })
    if (made === 'gone') return
    if (made?.status === 201) acknowledged.users.add(made.body.id)
    if (made?.status === 201 && index % 7 === 6) {
      const removed = await asked('DELETE', `/api/users/${made.body.id}`)
      if (removed === 'gone') acknowledged.users.delete(made.body.id)
      else if (removed?.status === 200) {
        acknowledged.users.delete(made.body.id)
        acknowledged.removedUsers.add(made.body.id)
      }
      if (removed === 'gone') return
    }
    if (persona === undefined) {
      const added = await asked('POST', '/api/personas', {
        name: prefix,
        model: 'm',
        memory_settings: { enabled: true },
      })
      if (added === 'gone') return
      if (added?.status === 201) {
        persona = added.body.id as string
        acknowledged.personas.add(persona)
        acknowledged.memories.set(persona, new Set())
      }
    } else {
      const memory = await asked('POST', `/api/personas/${persona}/memory`, { content: `${prefix} remembers ${index}` })
      if (memory === 'gone') return
      if (memory?.status === 201) acknowledged.memories.get(persona)!.add(memory.body.id)
    }
    const login = await judged(world, 'login', () =>
      call('POST', '/api/auth/login', { body: { username: 'ada', password: goodPassword } }),
    )
    if (login === 'gone') return
    if (login?.status === 200) {
      acknowledged.tokens.add(login.body.token)
      if (index % 3 === 2) {
        const out = await judged(world, 'logout', () => call('POST', '/api/auth/logout', { token: login.body.token }))
        acknowledged.tokens.delete(login.body.token)
        if (out !== 'gone' && out?.status === 200) acknowledged.endedTokens.add(login.body.token)
        if (out === 'gone') return
      }
    }
  }
}

type Answer = Awaited<ReturnType<ReturnType<typeof callApi>>>

/** The answer; `gone` when the connection broke. An answer that no caller can act on is noted as broken. */
async function judged(world: World, what: string, ask: () => Promise<Answer>): Promise<Answer | 'gone' | undefined> {
  let answer: Answer
  try {
    answer = await ask()
  } catch {
    return 'gone'
  }
  const { status, headers, body } = answer
  const key = `${what} ${status}`
  world.answers.set(key, (world.answers.get(key) ?? 0) + 1)
  if (status >= 200 && status < 300) return answer
  const told = `${what}: ${status} ${JSON.stringify(body).slice(0, 300)}`
  if (status !== 503) world.broken.push(told)
  else if (!headers.has('retry-after')) world.broken.push(`without Retry-After: ${told}`)
  return answer
}

/** Compares the acknowledged writes with the data. */
export async function validate(world: World, daemon: SpawnedDaemon): Promise<void> {
  const { acknowledged, broken, admin } = world
  const ask = async (path: string, token = admin) => daemon.call('GET', path, { token })
  const users = new Set<string>()
  for (let offset = 0; ; offset += 100) {
    const { status, body } = await ask(`/api/users?limit=100&offset=${offset}`)
    if (status !== 200) {
      broken.push(`the list of users: ${status} ${JSON.stringify(body)}`)
      break
    }
    for (const { id } of body.users) users.add(id)
    if (body.users.length < 100) break
  }
  for (const id of acknowledged.users) if (!users.has(id)) broken.push(`the user ${id} was acknowledged and is lost`)
  for (const id of acknowledged.removedUsers) if (users.has(id)) broken.push(`the user ${id} was removed and is there`)
  for (const [persona, memories] of acknowledged.memories) {
    const found = new Set<string>()
    for (let offset = 0; ; offset += 100) {
      const { status, body } = await ask(`/api/personas/${persona}/memory?limit=100&offset=${offset}`)
      if (status !== 200) {
        broken.push(`the persona ${persona}: ${status} ${JSON.stringify(body)}`)
        break
      }
      for (const { id } of body.memories) found.add(id)
      if (body.memories.length < 100) break
    }
    for (const id of memories) if (!found.has(id)) broken.push(`the memory ${id} was acknowledged and is lost`)
  }
  for (const token of sampled(acknowledged.tokens)) {
    const { status } = await ask('/api/auth/me', token)
    if (status !== 200) broken.push(`a login that was acknowledged is answered with ${status}`)
  }
  for (const token of sampled(acknowledged.endedTokens)) {
    const { status } = await ask('/api/auth/me', token)
    if (status !== 401) broken.push(`a login that has ended is answered with ${status}`)
  }
}

/** The last of many. */
function sampled(tokens: ReadonlySet<string>): readonly string[] {
  return [...tokens].slice(-20)
}

/** Waits a random time, unless the signal comes first. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms)
}
