import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childTasks } from '../../../src/app/packages.ts'
import { type Adaptation, createAdaptation } from '../../../src/personas/adaptation/adaptations.ts'
import type { NewMemory, RetentionPolicy } from '../../../src/personas/memory/memory.ts'
import { type Backups, createBackups } from '../../../src/personas/package/backup.ts'
import { createPersonaPackages, type PersonaPackages } from '../../../src/personas/package/packages.ts'
import { openScratch } from '../../../src/personas/package/scratch.ts'
import {
  createPackageWriter,
  type PackageWriterTask,
  performTask,
} from '../../../src/personas/package/write-package.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { requireOwn } from '../../../src/personas/persona.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { placeEmptyDatabase } from '../storage/empty-database.ts'
import { storageIn } from '../storage/test-storage.ts'

/** Personas in a database of their own, with their adaptation, packages and backups. */
export interface Shop extends Disposable {
  readonly folder: string
  readonly db: Database
  readonly adaptation: Adaptation
  readonly backups: Backups
  readonly packages: PersonaPackages
  /** The clock, to be set. */
  readonly clock: { now: number }
  /** Creates a persona with so many memories and a learned state. */
  stock(owner: string, memories?: number): Promise<Persona>
  find(id: string): Promise<Persona | undefined>
  addMemories(persona: Persona, memories: readonly NewMemory[]): Promise<void>
  /** Every row of every table that holds something of personas, in one comparable value. */
  dump(): unknown
  /** Closes the storage and leaves the folder. */
  release(): void
  close(): void
}

const keepAll: RetentionPolicy = { maxMemories: 1e9, maxAge: 1e15, cleanup: false, now: 0 }

export const newFolder = () => mkdtempSync(join(tmpdir(), 'aichat-packages-'))

/** Opens one, in a new folder unless one is given; `withoutChildren` does long work in this process, sooner than a child starts. */
export async function openShop(folder = newFolder(), { withoutChildren = false } = {}): Promise<Shop> {
  placeEmptyDatabase(folder)
  const db = await openDatabase(join(folder, 'aichat.db'))
  const clock = { now: Date.UTC(2026, 5, 1) }
  const now = () => clock.now
  const newId = () => randomUUID()
  const settings = storageIn(folder)
  const storage = await openStorage(settings)
  const { personas, memories, packages: archive } = storage
  await archive.sweep()
  const adaptation = createAdaptation({ store: storage.adaptations, now, newId })
  const producer = 'aichat test'
  const scratch = join(folder, 'scratch')
  const tasks = childTasks(storage, { storage: settings, scratch })
  const runInChild = withoutChildren ? (task: PackageWriterTask) => performTask(archive, task) : tasks.package
  const writer = createPackageWriter({ archive, producer, runInChild })
  const common = { archive, writer, now, newId, producer, ...(!withoutChildren && { runInChild: tasks.write }) }
  const backups = await createBackups({ ...common, store: storage.backups, files: storage.backupFiles, memories })
  const packages = createPersonaPackages({
    ...common,
    backups,
    personas: { get: async (owner, id) => requireOwn(await personas.find(id), owner, id) },
    scratch: openScratch(scratch, newId),
    defaultModel: () => undefined,
    workFactor: 8,
  })
  const addMemories = async (persona: Persona, list: readonly NewMemory[]) =>
    void (await memories.add({ personaId: persona.id, userId: persona.user_id }, list, keepAll))
  const release = () => {
    db.close()
    void storage.close()
  }
  const close = () => {
    release()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    folder,
    db,
    adaptation,
    backups,
    packages,
    clock,
    addMemories,
    find: (id) => personas.find(id),
    async stock(owner, count = 5) {
      const persona: Persona = {
        id: newId(),
        user_id: owner,
        name: 'Ada',
        model: 'gpt-x',
        system_prompt: 'Be Ada.',
        parameters: { temperature: 0.5, odd: [1, { deep: null }] },
        memory_settings: { enabled: true, max_memories: 100_000 },
        mutation_settings: { enabled: true, sensitivity: 'high' },
        created_at: clock.now - 1000,
        updated_at: clock.now,
      }
      await personas.save(persona)
      await addMemories(
        persona,
        Array.from({ length: count }, (_, at) => memoryOf(at, 48)),
      )
      const ask = { adaptation_type: 'weight_adjusted', trigger_event: 'feedback_positive' } as const
      const { record } = await adaptation.adapt(persona, { ...ask, changes: [{ trait: 'verbosity', target: -0.8 }] })
      await adaptation.adapt(persona, {
        ...ask,
        changes: [
          { preference: 'units', value: 'metric' },
          { trait: 'warmth', target: 1 },
        ],
      })
      await adaptation.adapt(persona, {
        adaptation_type: 'rollback',
        trigger_event: 'manual_request',
        changes: [{ record: record.id }],
      })
      return persona
    },
    dump: () =>
      [
        'persona',
        'memory',
        'memory_vector',
        'memory_terms',
        'memory_sketch',
        'adaptation_log',
        'adaptation',
        'persona_state',
        'persona_carried',
        'memory_carried',
        'persona_backup',
      ]
        .filter((table) => db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table))
        .map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()),
    release,
    close,
    [Symbol.dispose]: close,
  }
}

/** The memory of that number, with a vector like an embedder's. */
export function memoryOf(at: number, dimension: number): NewMemory {
  const values = Float32Array.from(
    { length: dimension },
    (_, index) => Math.sin(at * 7919 + index * 104_729) / Math.sqrt(dimension / 2),
  )
  return {
    content: `Memory ${at}: she likes 柏林 and number ${at * 17}.`,
    timestamp: Date.UTC(2026, 0, 1) + at * 60_000,
    importance_score: (at % 10) / 10,
    metadata: { category: at % 2 ? 'odd' : 'even', pinned: at % 5 === 0 },
    vector: { space: { key: `test#${dimension}`, model: 'test', dimension }, values },
  }
}
