import type { StoreDatabase } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { ConversationText } from './conversation-text.ts'
import type { Processes } from './limit-money.ts'
import type { ResponseParts } from './responses.ts'

/** Makes a store that is loaded at its first use, with methods that fail with AppErrors. */
export type Lazily = <S extends object>(load: () => Promise<S>) => S

/** What the databases do in their own way for these stores. */
export interface StoreParts {
  readonly limits: StoredLimits
  readonly processes: Processes
  /** Called after an account was added, before it is acknowledged. */
  readonly onAccountAdded?: () => void
  /** Whether the database is of one machine, which counts failed logins by its own clock. */
  readonly isOfOneMachine: boolean
  loadConversationText(): Promise<ConversationText>
  loadResponseParts(): Promise<ResponseParts>
}

/** The stores that are the same over any database. */
export function openStores(lazily: Lazily, db: StoreDatabase, parts: StoreParts) {
  const { limits } = parts
  return {
    accounts: lazily(async () => (await import('./accounts.ts')).createAccountStore(db, parts.onAccountAdded)),
    loginFailures: lazily(async () => {
      const { createLoginFailureStore, machineClock } = await import('./login-failures.ts')
      return createLoginFailureStore(db, parts.isOfOneMachine ? machineClock() : undefined)
    }),
    keys: lazily(async () => (await import('./keys.ts')).createKeyStore(db)),
    personas: lazily(async () => (await import('./personas.ts')).createPersonaStore(db, limits)),
    profiles: lazily(async () => (await import('./profiles.ts')).createProfileStore(db, limits)),
    conversations: lazily(async () =>
      (await import('./conversations.ts')).createConversationStore(db, await parts.loadConversationText()),
    ),
    responses: lazily(async () =>
      (await import('./responses.ts')).createResponseStore(db, await parts.loadResponseParts()),
    ),
    adaptations: lazily(async () => (await import('./adaptations.ts')).createAdaptationStore(db, limits)),
    backups: lazily(async () => (await import('./backups.ts')).createBackupStore(db, limits)),
    ledger: lazily(async () => (await import('./ledger.ts')).createLedgerStore(db)),
    prices: lazily(async () => (await import('./prices.ts')).createPriceStore(db)),
    limits: lazily(async () => (await import('./limits.ts')).createLimitStore(db, parts.processes)),
  }
}
