import { accountMigrations } from './accounts-schema.ts'
import { adaptationMigrations } from './adaptations-schema.ts'
import { conversationMigrations } from './conversations-schema.ts'
import { embeddingClaimMigrations } from './embedding-claims-schema.ts'
import { keyMigrations } from './keys-schema.ts'
import { ledgerMigrations } from './ledger-schema.ts'
import { limitMigrations } from './limits-schema.ts'
import { loginFailureMigrations } from './login-failures-schema.ts'
import { loreMigrations } from './lore-schema.ts'
import { memoryMigrations } from './memories-schema.ts'
import type { Migration } from './migration.ts'
import { personaMigrations } from './personas-schema.ts'
import { priceMigrations } from './prices-schema.ts'
import { proposalMigrations } from './proposals-schema.ts'
import { responseMigrations } from './responses-schema.ts'
import { revisionMigrations } from './revisions-schema.ts'
import { sealMigrations } from './seals-schema.ts'
import { sketchMigrations } from './sketches-schema.ts'
import { usageMigrations } from './usage-schema.ts'

/** Every change of the schema in the order in which it is applied; each area's list stands beside its store. */
export const migrations: readonly Migration[] = [
  ...accountMigrations,
  ...personaMigrations,
  ...adaptationMigrations,
  ...memoryMigrations,
  ...usageMigrations,
  ...sealMigrations,
  ...revisionMigrations,
  ...loreMigrations,
  ...ledgerMigrations,
  ...priceMigrations,
  ...limitMigrations,
  ...keyMigrations,
  ...proposalMigrations,
  ...conversationMigrations,
  ...responseMigrations,
  ...loginFailureMigrations,
  ...embeddingClaimMigrations,
  ...sketchMigrations,
]
