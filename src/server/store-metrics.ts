import type { App } from '../app/app.ts'
import type { MetricSource } from '../metrics/metrics.ts'
import { whileUnderWay } from '../process/process.ts'

type StoredSize = NonNullable<Awaited<ReturnType<App['storedSize']>>>

/** The sizes of stored data, and the counts of imports. */
export function storeMetrics(app: Pick<App, 'storedSize' | 'imports'>): readonly MetricSource[] {
  /** Read once for all metrics that are collected at the same time. */
  const read = whileUnderWay(() => sizeOf(app))
  return [
    size('aichat_users', 'Users.', ({ users }) => users),
    size('aichat_personas', 'Personas of all users.', ({ personas }) => personas),
    size('aichat_memories', 'Memories of all personas.', ({ memories }) => memories),
    size(
      'aichat_persona_bytes',
      'Personas with their memories, states and backups, as they count for the limits of users.',
      ({ personaBytes }) => personaBytes,
    ),
    {
      type: 'gauge',
      name: 'aichat_storage_bytes',
      together: 'max',
      help: 'The files of the database, and of its log that is not in it yet.',
      values: async () => {
        const stored = await read()
        if (!stored) return []
        return [
          { labels: { file: 'database' }, value: stored.databaseBytes },
          { labels: { file: 'log' }, value: stored.logBytes },
        ]
      },
    },
    {
      type: 'counter',
      name: 'aichat_imports_total',
      help: 'Files that personas were imported from, by format.',
      values: () =>
        app.imports.list().map(({ format, outcome, count }) => ({ labels: { format, outcome }, value: count })),
    },
    {
      type: 'gauge',
      name: 'aichat_imports_in_flight',
      help: 'Imports under way.',
      values: () => [{ labels: {}, value: app.imports.underWay }],
    },
  ]

  function size(name: string, help: string, value: (stored: StoredSize) => number): MetricSource {
    return {
      type: 'gauge',
      name,
      // All processes tell of one storage.
      together: 'max',
      help,
      values: async () => {
        const stored = await read()
        return stored ? [{ labels: {}, value: value(stored) }] : []
      },
    }
  }
}

/** Undefined while the storage cannot tell, such as locked: the other metrics are shown all the same. */
async function sizeOf(app: Pick<App, 'storedSize'>): Promise<StoredSize | undefined> {
  try {
    return await app.storedSize()
  } catch {
    return undefined
  }
}
