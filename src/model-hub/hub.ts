import { createHash } from 'node:crypto'
import { existsSync, rmdirSync, statSync, utimesSync } from 'node:fs'
import { rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { makeFolder, suggestion } from '../formats/formats.ts'
import type { Send } from '../http/http.ts'
import { dropLock, lockMark, tryLock } from '../storage/storage.ts'
import { removeParts } from './download.ts'
import type { Edition, KnownModel, ModelKind } from './known-models.ts'
import { type Plan, type Pulled, type PullProgress, pullEdition } from './pull.ts'
import { openRecords } from './record.ts'
import { createTransfer } from './transfer.ts'

export interface InstalledModel {
  readonly name: string
  readonly kind: ModelKind
  /** The absolute path of the folder that holds its files. */
  readonly folder: string
  readonly bytes: number
  /** False for files that were put there by hand and never compared with their hashes. */
  readonly verified: boolean
  /** Changes with the content: made of the files' hashes, or of their lengths where hashes are unknown. */
  readonly fingerprint: string
}

export interface PullOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: PullProgress) => void) | undefined
  /** Whether to pull files licensed for non-commercial use only. Default: as at the last pull. */
  readonly nonCommercial?: boolean | undefined
  /** Called when the same model is being pulled already, and that is waited for. */
  readonly onWait?: (() => void) | undefined
}

/** The models folder, and the hub from which it is filled. */
export type Hub = ReturnType<typeof openHub>

export interface HubParts {
  readonly modelsFolder: string
  readonly known: ReadonlyMap<string, KnownModel>
  readonly endpoint: string
  readonly token: string | undefined
  readonly send: Send
  /** Free bytes on the disk of a folder. Default: asks the file system. */
  readonly freeBytes?: (folder: string) => Promise<number>
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Opens a models folder; nothing is read or asked before it is needed. */
export function openHub(parts: HubParts) {
  const { modelsFolder, known } = parts
  const { freeBytes = freeSpace, sleep = wait } = parts
  const records = openRecords(modelsFolder)

  return {
    known,
    installed,
    find(name: string): InstalledModel | undefined {
      const model = known.get(name)
      return model && present(model)
    },
    /**
     * Brings a model into the folder: verified, resumed where an earlier pull ended, and waited for where another pull
     * of the same one is under way. Throws an AppError: `not_found` for an unknown name, `forbidden` naming the licence
     * page of a gated model, `io` when there is no room, `invalid` when the hub sends other content than is pinned,
     * `unavailable` when it stays away.
     */
    async pull(name: string, { signal, onWait, onProgress = () => {}, ...options }: PullOptions = {}): Promise<Pulled> {
      const model = lookUp(name)
      signal?.throwIfAborted()
      const nonCommercial = options.nonCommercial ?? records.read(name)?.non_commercial ?? false
      const lock = await takePullLock(lockOf(name), { signal, sleep, onWait })
      try {
        makeFolder(modelsFolder, 0o777)
        const transfer = createTransfer(parts)
        const plan = { model, nonCommercial, modelsFolder, records, transfer, freeBytes, sleep, signal, onProgress }
        return await firstOf(plan, editionsFor(model))
      } catch (reason) {
        signal?.throwIfAborted()
        throw reason
      } finally {
        lock.release()
      }
    },
    /** Removes a model and the parts of unfinished pulls. Throws `not_found` where there is nothing. */
    async remove(name: string): Promise<{ readonly name: string; readonly removed: true; readonly bytes: number }> {
      const model = known.get(name)
      if (!model) throw notInstalled(name)
      const lock = await takePullLock(lockOf(name), { sleep })
      try {
        const bytes = await removeFiles(model)
        if (bytes === undefined) throw notInstalled(name)
        return { name, removed: true as const, bytes }
      } finally {
        lock.release()
      }
    },
  }

  /** The complete models in the folder; asks no hub. */
  function installed(kind?: ModelKind): readonly InstalledModel[] {
    return [...known.values()]
      .filter((model) => kind === undefined || model.kind === kind)
      .flatMap((model) => present(model) ?? [])
  }

  function notInstalled(name: string): AppError {
    const names = installed().map((model) => model.name)
    return new AppError(
      'not_found',
      `Model "${name.slice(0, 80)}" not found among the pulled ones${suggestion(name, names)}`,
      {
        details: [names.length > 0 ? `Pulled: ${names.join(', ')}` : 'No model has been pulled to this machine'],
      },
    )
  }

  function lookUp(name: string): KnownModel {
    const model = known.get(name)
    if (model) return model
    throw new AppError('not_found', `Model "${name.slice(0, 80)}" not found${suggestion(name, known.keys())}`, {
      details: [...known.values()].map((each) => `${each.name}: ${each.summary}`),
    })
  }

  function lockOf(name: string): string {
    return join(modelsFolder, `.${name}.lock`)
  }

  /** The model by its record, else by the files in its folder. */
  function present({ name, kind, editions }: KnownModel): InstalledModel | undefined {
    const record = records.read(name)
    if (record && records.isWhole(record)) {
      const bytes = record.files.reduce((sum, file) => sum + file.bytes, 0)
      const fingerprint = fingerprintOf(record.files.map((file) => file.sha256))
      return { name, kind, folder: join(modelsFolder, record.folder), bytes, verified: true, fingerprint }
    }
    for (const { folder, files } of editions) {
      const needed = files.filter((file) => file.nonCommercial === undefined)
      const sizes = needed.map(({ as, bytes }) => {
        const size = statSync(join(modelsFolder, folder, as), { throwIfNoEntry: false })?.size
        return bytes === undefined || bytes === size ? size : undefined
      })
      if (sizes.every((size) => size !== undefined)) {
        const bytes = sizes.reduce((sum, size) => sum + size, 0)
        const fingerprint = fingerprintOf(sizes.map(String))
        return { name, kind, folder: join(modelsFolder, folder), bytes, verified: false, fingerprint }
      }
    }
    return undefined
  }

  /** A gated edition is tried with a token, or where it is the only one, or where it is installed already. */
  function editionsFor({ name, editions }: KnownModel): readonly Edition[] {
    const record = records.read(name)
    const open = editions.filter((edition) => !edition.gated || parts.token || record?.folder === edition.folder)
    return open.length > 0 ? open : editions
  }

  async function removeFiles({ name, editions }: KnownModel): Promise<number | undefined> {
    const record = records.read(name)
    const targets = new Set(editions.flatMap(({ folder, files }) => files.map(({ as }) => join(folder, as))))
    for (const { as } of record?.files ?? []) targets.add(join(record!.folder, as))
    let freed = 0
    let found = record !== undefined
    // Without its record the model is not installed, even after a crash here.
    if (record) records.remove(name)
    for (const target of targets) {
      const path = join(modelsFolder, target)
      const size = statSync(path, { throwIfNoEntry: false })?.size
      const parts = await removeParts(path)
      if (size !== undefined) await rm(path, { force: true })
      found ||= size !== undefined || parts > 0
      freed += (size ?? 0) + parts
      removeEmpty(dirname(path))
    }
    return found ? freed : undefined
  }

  /** Folders that nothing is left in go too, up to the models folder. */
  function removeEmpty(folder: string): void {
    for (let path = folder; path.length > modelsFolder.length && existsSync(path); path = dirname(path)) {
      try {
        rmdirSync(path)
      } catch {
        return
      }
    }
  }
}

/** Pulls the first edition that the hub gives out; a failure's details name the refusal of each other one. */
async function firstOf(plan: Plan, editions: readonly Edition[]): Promise<Pulled> {
  const notes: string[] = []
  for (const [index, edition] of editions.entries()) {
    try {
      const pulled = await pullEdition(plan, edition)
      return { ...pulled, notes: [...notes, ...pulled.notes] }
    } catch (reason) {
      const refused = reason instanceof AppError && reason.code === 'forbidden' && index < editions.length - 1
      if (!refused) throw reason
      notes.push(`${reason.message}: the open edition is installed instead`, ...reason.details)
    }
  }
  throw new AppError('internal', 'A model has no edition')
}

function fingerprintOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16)
}

async function freeSpace(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal ? { signal } : {})
}

/** Interval of the holder's heartbeat, and the age after which it counts as dead: milliseconds. */
const heartbeatMs = 5_000
const staleMs = 30_000
const askAgainMs = 250

/** Locks a model within and across processes; calls `onWait` once on a wait. A dead process's lock is taken over. */
async function takePullLock(
  path: string,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly onWait?: (() => void) | undefined
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  },
) {
  const mark = lockMark()
  makeFolder(dirname(path))
  for (let tries = 0; !tryLock(path, mark, staleMs); tries++) {
    if (tries === 1) options.onWait?.()
    await options.sleep(askAgainMs, options.signal)
  }
  const heartbeat = setInterval(() => touch(path), heartbeatMs)
  heartbeat.unref()
  return {
    release() {
      clearInterval(heartbeat)
      dropLock(path, mark)
    },
  }
}

function touch(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch {
    return
  }
}
