/** The shapes of the API, derived from the operations: types alone, nothing of the core is in the page. */
import type { listAdaptations, showState } from '../../operations/adaptation.ts'
import type { showAudit } from '../../operations/audit.ts'
import type { systemInfo, whoAmI } from '../../operations/auth.ts'
import type { listChatModels } from '../../operations/chat.ts'
import type { listKeys } from '../../operations/keys.ts'
import type { checkLimit, listLimits } from '../../operations/limits.ts'
import type { listMemories, listProposals, removeMemory, searchMemories } from '../../operations/memories.ts'
import type { refreshModels } from '../../operations/models.ts'
import type { OutputOf } from '../../operations/operation.ts'
import type { importPersona, listBackups, verifyPersona } from '../../operations/packages.ts'
import type { listPersonas } from '../../operations/personas.ts'
import type { validatePlugin } from '../../operations/plugin-check.ts'
import type { listPlugins, testPlugin } from '../../operations/plugins.ts'
import type { listRequests, showLoad } from '../../operations/requests.ts'
import type { serviceStatus } from '../../operations/service.ts'
import type { listSessions, showSession } from '../../operations/sessions.ts'
import type { listVoicesOfServers, showSpeechHealth } from '../../operations/speech.ts'
import type { showUsage } from '../../operations/usage.ts'
import type { listUsers } from '../../operations/users.ts'

export type SystemInfo = OutputOf<typeof systemInfo>
export type Me = OutputOf<typeof whoAmI>
export type Key = OutputOf<typeof listKeys>['keys'][number]
export type Limit = OutputOf<typeof listLimits>['limits'][number]
export type LimitCheck = OutputOf<typeof checkLimit>
export type Usage = OutputOf<typeof showUsage>
export type UsageRow = Usage['rows'][number]
export type Persona = OutputOf<typeof listPersonas>['personas'][number]
export type PersonaState = OutputOf<typeof showState>
export type AdaptationRecord = OutputOf<typeof listAdaptations>['records'][number]
export type Memory = OutputOf<typeof listMemories>['memories'][number]
export type Removed = OutputOf<typeof removeMemory>
export type FoundMemory = OutputOf<typeof searchMemories>['results'][number]
export type Proposal = OutputOf<typeof listProposals>['proposals'][number]
export type Backup = OutputOf<typeof listBackups>['backups'][number]
export type Verification = OutputOf<typeof verifyPersona>
export type Imported = OutputOf<typeof importPersona>
export type SavedSession = OutputOf<typeof listSessions>['sessions'][number]
export type WholeSession = OutputOf<typeof showSession>
export type ChatModel = OutputOf<typeof listChatModels>['models'][number]
export type Plugin = OutputOf<typeof listPlugins>['plugins'][number]
export type PluginTest = OutputOf<typeof testPlugin>
export type PluginCheck = OutputOf<typeof validatePlugin>
export type Refreshed = OutputOf<typeof refreshModels>['plugins'][number]
export type FollowedRequest = OutputOf<typeof listRequests>['requests'][number]
export type Load = OutputOf<typeof showLoad>
export type Status = OutputOf<typeof serviceStatus>
export type SpeechServer = OutputOf<typeof showSpeechHealth>['servers'][number]
export type Voice = OutputOf<typeof listVoicesOfServers>['voices'][number]
export type AuditEntry = OutputOf<typeof showAudit>['entries'][number]
export type User = OutputOf<typeof listUsers>['users'][number]
