import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { Download, defineOperation } from './operation.ts'

const name = z.string().min(1).max(100)

const kept = z.object({
  name: z.string(),
  /** Milliseconds since 1970 UTC. */
  created_at: z.int(),
  bytes: z.int(),
  encrypted: z.boolean(),
  /** Made by the schedule, which removes it after some time. */
  scheduled: z.boolean(),
})

const verified = z.object({
  name: z.string(),
  created_at: z.int(),
  program: z.string(),
  schema: z.string(),
  users: z.int(),
  files: z.int(),
  bytes: z.int(),
  /** The names of the provider keys that were set; no backup holds their values. */
  keys: z.array(z.string()).max(10_000),
})

const passphrase = z.exactOptional(z.string().min(8).max(1_000))

export const createBackup = defineOperation({
  name: 'backups.create',
  route: 'POST /api/backups',
  access: 'admin',
  summary: 'Backs up everything that this installation keeps, to the place of the settings.',
  status: 201,
  audited: true,
  failures: [500, 503],
  input: z.strictObject({ passphrase }),
  output: kept,
  deed: (_input, { name: subject }) => ({ subject }),
  run: async ({ app, signal }, { passphrase }) => (await app.backups()).create({ passphrase, signal }),
})

export const listFullBackups = defineOperation({
  name: 'backups.list',
  route: 'GET /api/backups',
  access: 'admin',
  summary: 'Lists the backups of everything, the newest first.',
  failures: [503],
  input: z.object({}),
  output: z.object({
    place: z.string(),
    /** How often the daemon makes one, and how many of these it keeps; null where it makes none. */
    schedule: z.object({ every_seconds: z.int(), keep: z.int() }).nullable(),
    backups: z.array(kept).max(100_000),
  }),
  run: async ({ app }) => {
    const backups = await app.backups()
    const { every, keep } = app.settings.backup
    const schedule = every === undefined ? null : { every_seconds: every, keep }
    return { place: backups.place, schedule, backups: await backups.list() }
  },
})

export const verifyBackup = defineOperation({
  name: 'backups.verify',
  route: 'POST /api/backups/:name/verify',
  access: 'admin',
  summary: 'Reads a whole backup and compares each of its parts with the manifest.',
  failures: [500, 503],
  input: z.strictObject({ name, passphrase }),
  output: verified,
  run: async ({ app, signal }, { name, passphrase }) => (await app.backups()).verify({ name }, { passphrase, signal }),
})

const downloadBackup = defineOperation({
  name: 'backups.download',
  route: 'GET /api/backups/:name',
  access: 'admin',
  summary: 'Gives the file of a backup; one without a passphrase holds conversations and password hashes in the clear.',
  audited: true,
  failures: [404, 503],
  input: z.object({ name }),
  produces: ['application/octet-stream'],
  output: z.instanceof(Download),
  deed: ({ name: subject }) => ({ subject }),
  run: async ({ app }, { name }) => {
    const file = createReadStream((await app.backups()).fileOf(name))
    return new Download('application/octet-stream', file, { filename: name })
  },
})

export const removeBackup = defineOperation({
  name: 'backups.remove',
  route: 'DELETE /api/backups/:name',
  access: 'admin',
  summary: 'Removes a backup of everything.',
  audited: true,
  failures: [503],
  input: z.object({ name }),
  output: kept,
  run: async ({ app }, { name }) => (await app.backups()).remove(name),
})

export const backupOperations = [createBackup, listFullBackups, downloadBackup, verifyBackup, removeBackup]
