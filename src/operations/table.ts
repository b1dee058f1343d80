import { adaptationOperations } from './adaptation.ts'
import { auditOperations } from './audit.ts'
import { authOperations } from './auth.ts'
import { backupOperations } from './backups.ts'
import { chatOperations } from './chat.ts'
import { compactSession } from './compact-session.ts'
import { readDocument } from './documents.ts'
import { keyOperations } from './keys.ts'
import { limitOperations } from './limits.ts'
import { memoryOperations } from './memories.ts'
import { showModel } from './model-details.ts'
import { modelOperations } from './models.ts'
import type { Operation } from './operation.ts'
import { packageOperations } from './packages.ts'
import { personaOperations } from './personas.ts'
import { pluginKeyOperations } from './plugin-keys.ts'
import { pluginOperations } from './plugins.ts'
import { priceOperations } from './prices.ts'
import { profileOperations } from './profile.ts'
import { pulledModelOperations } from './pulled-models.ts'
import { requestOperations } from './requests.ts'
import { responseOperations } from './responses.ts'
import { runningServiceOperations } from './running-service.ts'
import { serviceOperations } from './service.ts'
import { sessionOperations } from './sessions.ts'
import { settingOperations } from './settings.ts'
import { speechOperations } from './speech.ts'
import { titleSession } from './title-session.ts'
import { toolServerOperations } from './tool-servers.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'

/** All operations: the routes, the OpenAPI document and the exhaustive tests are derived from this list. */
export const operations: readonly Operation[] = [
  ...pluginOperations,
  ...pluginKeyOperations,
  ...modelOperations,
  showModel,
  ...pulledModelOperations,
  ...priceOperations,
  ...chatOperations,
  readDocument,
  ...serviceOperations,
  ...runningServiceOperations,
  ...requestOperations,
  ...speechOperations,
  ...authOperations,
  ...userOperations,
  ...keyOperations,
  ...personaOperations,
  ...adaptationOperations,
  ...packageOperations,
  ...memoryOperations,
  ...profileOperations,
  ...sessionOperations,
  compactSession,
  titleSession,
  ...responseOperations,
  ...usageOperations,
  ...limitOperations,
  ...backupOperations,
  ...auditOperations,
  ...settingOperations,
  ...toolServerOperations,
]
