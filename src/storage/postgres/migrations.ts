import { accountMigrations } from './accounts-schema.ts'
import { adaptationMigrations } from './adaptations-schema.ts'
import { backupMigrations } from './backups-schema.ts'
import { changeMigrations } from './changes-schema.ts'
import { conversationMigrations } from './conversations-schema.ts'
import { installationMigrations } from './installation-schema.ts'
import { keyMigrations } from './keys-schema.ts'
import { ledgerMigrations } from './ledger-schema.ts'
import { limitMigrations } from './limits-schema.ts'
import { loginFailureMigrations } from './login-failures-schema.ts'
import { memoryMigrations } from './memories-schema.ts'
import type { Migration } from './migration.ts'
import { packageMigrations } from './packages-schema.ts'
import { personaMigrations } from './personas-schema.ts'
import { pluginMigrations } from './plugins-schema.ts'
import { priceMigrations } from './prices-schema.ts'
import { proposalMigrations } from './proposals-schema.ts'
import { responseMigrations } from './responses-schema.ts'
import { sealMigrations } from './seals-schema.ts'

/** Every change of the schema in the order in which it is applied; each area's list stands beside its store. */
export const migrations: readonly Migration[] = [
  ...changeMigrations,
  ...installationMigrations,
  ...accountMigrations,
  ...loginFailureMigrations,
  ...keyMigrations,
  ...pluginMigrations,
  ...personaMigrations,
  ...memoryMigrations,
  ...proposalMigrations,
  ...adaptationMigrations,
  ...packageMigrations,
  ...backupMigrations,
  ...conversationMigrations,
  ...responseMigrations,
  ...ledgerMigrations,
  ...priceMigrations,
  ...limitMigrations,
  ...sealMigrations,
]
