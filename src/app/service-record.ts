import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isHeld } from '../process/process.ts'
import { listFolder, mayRun, processMark, removeFile, replaceFile } from '../storage/storage.ts'
import { version } from '../version.ts'

/** A service's description of itself, for commands on this machine and for the API. */
export const serviceRecord = z.object({
  pid: z.number(),
  version: z.string(),
  /** Milliseconds since 1970. */
  started_at: z.number(),
  phase: z.enum(['starting', 'ready', 'draining']),
  servers: z.array(z.object({ name: z.string(), url: z.string() })),
  /** The processes that serve the API, where there are several. */
  workers: z.exactOptional(z.array(z.object({ worker: z.number(), pid: z.number() }))),
  /** False where SIGHUP ends it: one at a terminal ends with that. */
  reloads_on_hangup: z.boolean(),
  reloads: z.number(),
  last_reload: z
    .object({
      at: z.number(),
      outcome: z.enum(['taken over', 'partly taken over', 'refused']),
      message: z.string(),
      details: z.array(z.string()),
    })
    .nullable(),
})
export type ServiceRecord = z.output<typeof serviceRecord>

/** The record of this process, which it keeps next to its state for as long as it runs. */
export type OwnRecord = ReturnType<typeof openServiceRecord>

const folderOf = (state: string) => join(state, 'services')

/** The longest record that is read: characters. */
const longestRecord = 100_000

/** The record of this process; nothing is written before its first `update`. Records of killed services are removed. */
export function openServiceRecord(state: string) {
  attempt(() => runningServices(state))
  const mark = processMark()
  const path = join(folderOf(state), `${process.pid}.json`)
  let record: ServiceRecord = {
    pid: process.pid,
    version: version(),
    started_at: Date.now(),
    phase: 'starting',
    servers: [],
    reloads_on_hangup: false,
    reloads: 0,
    last_reload: null,
  }
  return {
    current: () => record,
    /** Writes the change; false where the disk took it not, which stops nothing. */
    update(change: Partial<ServiceRecord>): boolean {
      record = { ...record, ...change }
      return attempt(() => replaceFile(path, `${JSON.stringify({ mark, ...record }, null, 2)}\n`))
    },
    remove: () => void attempt(() => removeFile(path)),
  }
}

/** The services that run on this data folder now, the oldest first; records of killed ones are removed. */
export function runningServices(state: string): readonly ServiceRecord[] {
  const found: ServiceRecord[] = []
  for (const name of listFolder(folderOf(state)).filter((name) => /^\d+\.json$/.test(name))) {
    const path = join(folderOf(state), name)
    const record = read(path)
    if (record && mayRun(record.mark)) found.push(record.service)
    // A record that cannot be read stays while a process has the id in its name, which may be about to replace it.
    else if (record || !isHeld(`pid${Number.parseInt(name, 10)}-0`)) attempt(() => removeFile(path))
  }
  return found.sort((a, b) => a.started_at - b.started_at)
}

function read(path: string): { readonly mark: string; readonly service: ServiceRecord } | undefined {
  try {
    const { mark, ...service } = JSON.parse(readFileSync(path, 'utf8').slice(0, longestRecord)) as ServiceRecord & {
      readonly mark?: unknown
    }
    const isOurs = Number.isInteger(service.pid) && service.pid > 1 && Array.isArray(service.servers)
    return typeof mark === 'string' && isOurs ? { mark, service } : undefined
  } catch {
    return undefined
  }
}

function attempt(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
