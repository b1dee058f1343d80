import { openPlugins, type PluginPlaces } from '../files/plugins.ts'
import { atFirstUse, type Methods } from '../shared/lazy-store.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { StorageUse } from '../shared/storage-use.ts'
import { methods } from '../shared/store-methods.ts'
import { createChanges } from './changes.ts'
import { openDatabase } from './connection.ts'
import type { Context } from './context.ts'
import { translated, translating } from './errors.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import type { Database } from './sql.ts'

/** A PostgreSQL database that several installations share. */
export interface PostgresSettings extends PluginPlaces {
  /** `postgres://USER:PASSWORD@HOST:PORT/NAME`, with the driver's parameters. */
  readonly url: string
  readonly limits: StoredLimits
}

/** Opens the storage in a PostgreSQL database, see `openStorage`. A store is loaded at its first use. */
export async function openPostgresStorage(settings: PostgresSettings, use: StorageUse) {
  return openStorageOn(openDatabase(settings.url), settings, use)
}

/** The same on a database that is open already, which is closed with it. */
export async function openStorageOn(db: Database, settings: Omit<PostgresSettings, 'url'>, _use: StorageUse) {
  try {
    await migrate(db, migrations)
  } catch (reason) {
    await db.close()
    throw translated(reason)
  }
  const changes = createChanges(db)
  const context: Context = { db, changes, limits: settings.limits }
  const lazily = <S extends object>(names: Methods<S>, load: () => Promise<(context: Context) => S>): S =>
    atFirstUse(names, async () => translating((await load())(context)))
  return {
    accounts: lazily(methods.accounts, async () => (await import('./accounts.ts')).createAccountStore),
    loginFailures: lazily(
      methods.loginFailures,
      async () => (await import('./login-failures.ts')).createLoginFailureStore,
    ),
    keys: lazily(methods.keys, async () => (await import('./keys.ts')).createKeyStore),
    personas: lazily(methods.personas, async () => (await import('./personas.ts')).createPersonaStore),
    memories: lazily(methods.memories, async () => (await import('./memories.ts')).createMemoryStore),
    proposals: lazily(methods.proposals, async () => (await import('./proposals.ts')).createProposalStore),
    conversations: lazily(
      methods.conversations,
      async () => (await import('./conversations.ts')).createConversationStore,
    ),
    responses: lazily(methods.responses, async () => (await import('./responses.ts')).createResponseStore),
    adaptations: lazily(methods.adaptations, async () => (await import('./adaptations.ts')).createAdaptationStore),
    packages: lazily(methods.packages, async () => (await import('./packages.ts')).createPersonaArchive),
    backups: lazily(methods.backups, async () => (await import('./backups.ts')).createBackupStore),
    ledger: lazily(methods.ledger, async () => (await import('./ledger.ts')).createLedgerStore),
    prices: lazily(methods.prices, async () => (await import('./prices.ts')).createPriceStore),
    limits: lazily(methods.limits, async () => (await import('./limits.ts')).createLimitStore),
    plugins: openPlugins(settings),
    changes,
    hasLimits: () => true,
    size: async () => {
      throw new Error('Not written yet')
    },
    check: async () => `${db.name} answers`,
    deferCleanup() {},
    async close() {
      changes.close()
      await db.close()
    },
  }
}
