import { accountRules } from './accounts.ts'
import { adaptationRules } from './adaptations.ts'
import { backupFileRules } from './backup-files.ts'
import { backupRules } from './backups.ts'
import { changeRules } from './changes.ts'
import { conversationRules } from './conversations.ts'
import { crashRules } from './crash.ts'
import { keyRules } from './keys.ts'
import { ledgerRules } from './ledger.ts'
import { limitRules } from './limits.ts'
import { loginFailureRules } from './login-failures.ts'
import { memoryRules } from './memories.ts'
import { memoryEditRules } from './memory-edits.ts'
import { memoryEmbeddingRules } from './memory-embedding.ts'
import { memoryTextRules } from './memory-texts.ts'
import { packageRules } from './packages.ts'
import { personaRules } from './personas.ts'
import { pluginRules } from './plugins.ts'
import { priceRules } from './prices.ts'
import { profileRules } from './profiles.ts'
import { responseRules } from './responses.ts'
import type { Rule } from './rule.ts'

/** The contract: every promise that a storage makes, whichever database is behind it. */
export const rules: readonly Rule[] = [
  ...accountRules,
  ...loginFailureRules,
  ...keyRules,
  ...personaRules,
  ...memoryRules,
  ...memoryEditRules,
  ...memoryEmbeddingRules,
  ...memoryTextRules,
  ...profileRules,
  ...conversationRules,
  ...responseRules,
  ...adaptationRules,
  ...packageRules,
  ...backupRules,
  ...backupFileRules,
  ...ledgerRules,
  ...limitRules,
  ...pluginRules,
  ...priceRules,
  ...changeRules,
  ...crashRules,
]
