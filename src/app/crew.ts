import { z } from 'zod'
import type { PluginHealth } from '../chat/chat.ts'
import type { RateDesk } from '../usage/usage.ts'

export const workerState = z.object({
  /** From 1 on. A process that takes the place of another has its number. */
  worker: z.int(),
  /** Null while it is started again. */
  pid: z.int().nullable(),
  phase: z.enum(['starting', 'ready', 'ended']),
  /** Milliseconds since 1970. */
  started_at: z.int(),
  /** Processes that ended in its place. */
  restarts: z.int(),
  connections: z.int(),
  memory_bytes: z.int(),
  /** User and system time of the process. */
  cpu_seconds: z.number(),
})
export type WorkerState = z.output<typeof workerState>

/** The workers of this service, where several processes serve one port, for the process that owns them. */
export interface Crew {
  workers(): Promise<readonly WorkerState[]>
  /** How a plugin does as its workers see it, and this process (`own`): the worst circuit, the last use and its error. */
  health(own: (plugin: string) => PluginHealth): Promise<(plugin: string) => PluginHealth>
  /** Resolves when all workers have applied this process's latest reload. */
  reloaded(): Promise<void>
}

/** The place of a worker in its service: background jobs are those of the owner, which also counts for the limits. */
export interface WorkerPlace {
  readonly desk: RateDesk
}
