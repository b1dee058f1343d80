import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../settings/settings.ts'

/** The message to a worker at its start. */
export interface WorkerOrder {
  /** From 1 on. */
  readonly worker: number
  /** The settings in force, which may be older than the settings file. */
  readonly settings: Settings
  /** Settings that flags of the command line give, which no file changes. */
  readonly overrides: Partial<Settings>
  readonly phase: 'starting' | 'ready'
  /** The port on which clients reach the service. */
  readonly port: number
  /** A client on another machine needs it to create the first administrator. */
  readonly setupToken: string | undefined
  /** Between the processes of the service. */
  readonly secret: string
  /** The port of this machine at which the owner answers for its workers. */
  readonly ownerPort: number
  /** How often the owner wants a sign of life: milliseconds; undefined for never. */
  readonly aliveEveryMs: number | undefined
}

/** Variables that supervisors address to the process that they started, and to no other. */
const ofOwner = new Set([
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
  'LISTEN_FDS',
  'LISTEN_PID',
  'LISTEN_FDNAMES',
])

/** The hidden command that a worker is: `aichat __worker NUMBER`, so that `ps` tells them apart. */
const workerCommand = '__worker'

/** Starts the process of a worker, which logs to the same place as this one. */
export function startWorkerProcess(worker: number, { environment }: Pick<Settings, 'environment'>): ChildProcess {
  const program = fileURLToPath(new URL('./bin/aichat', import.meta.resolve('#package')))
  const given = Object.entries(environment).filter(([name]) => !ofOwner.has(name))
  return spawn(process.execPath, [...process.execArgv, program, workerCommand, String(worker)], {
    env: Object.fromEntries(given),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // JSON knows no Map, and no value that is left out.
    serialization: 'advanced',
  })
}
