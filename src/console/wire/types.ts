/** The shapes of the API, derived from the operations: types alone, nothing of the core is in the page. */
import type {
  checkLimit,
  importPersona,
  listAdaptations,
  listAttempts,
  listBackups,
  listChatModels,
  listEvictions,
  listFullBackups,
  listKeys,
  listKnownModels,
  listLimits,
  listMemories,
  listModels,
  listPersonas,
  listPlugins,
  listPrices,
  listRequests,
  listSessions,
  listSettings,
  listToolServers,
  listUsers,
  listVoicesOfServers,
  OutputOf,
  PullPiece,
  readDocument,
  refreshModels,
  reloadService,
  removeMemory,
  searchMemories,
  searchSessions,
  serviceStatus,
  setPluginKey,
  showAudit,
  showLastHour,
  showLoad,
  showProfile,
  showSession,
  showSpeechHealth,
  showState,
  showUsage,
  systemInfo,
  testPlugin,
  testToolServer,
  verifyBackup,
  verifyPersona,
  whoAmI,
} from '../../operations/operations.ts'

export type SystemInfo = OutputOf<typeof systemInfo>
export type Me = OutputOf<typeof whoAmI>
export type Key = OutputOf<typeof listKeys>['keys'][number]
export type Limit = OutputOf<typeof listLimits>['limits'][number]
export type LimitCheck = OutputOf<typeof checkLimit>
export type Usage = OutputOf<typeof showUsage>
export type UsageRow = Usage['rows'][number]
export type UsageAttempts = OutputOf<typeof listAttempts>
export type LastHour = OutputOf<typeof showLastHour>
export type Persona = OutputOf<typeof listPersonas>['personas'][number]
export type PersonaState = OutputOf<typeof showState>
export type AdaptationRecord = OutputOf<typeof listAdaptations>['records'][number]
export type Memory = OutputOf<typeof listMemories>['memories'][number]
export type ProfileLine = OutputOf<typeof showProfile>['lines'][number]
export type Removed = OutputOf<typeof removeMemory>
export type FoundMemory = OutputOf<typeof searchMemories>['results'][number]
export type Backup = OutputOf<typeof listBackups>['backups'][number]
export type Verification = OutputOf<typeof verifyPersona>
export type Imported = OutputOf<typeof importPersona>
export type SavedSession = OutputOf<typeof listSessions>['sessions'][number]
export type WholeSession = OutputOf<typeof showSession>
export type FoundMessage = OutputOf<typeof searchSessions>['hits'][number]
export type Price = OutputOf<typeof listPrices>['prices'][number]
export type DocumentText = OutputOf<typeof readDocument>
export type ChatModel = OutputOf<typeof listChatModels>['models'][number]
export type Plugin = OutputOf<typeof listPlugins>['plugins'][number]
export type PluginTest = OutputOf<typeof testPlugin>
export type StoredKey = OutputOf<typeof setPluginKey>
export type Refreshed = OutputOf<typeof refreshModels>['plugins'][number]
export type FollowedRequest = OutputOf<typeof listRequests>['requests'][number]
export type Load = OutputOf<typeof showLoad>
export type Status = OutputOf<typeof serviceStatus>
export type SpeechServer = OutputOf<typeof showSpeechHealth>['servers'][number]
export type Voice = OutputOf<typeof listVoicesOfServers>['voices'][number]
export type AuditEntry = OutputOf<typeof showAudit>['entries'][number]
export type User = OutputOf<typeof listUsers>['users'][number]
export type Model = OutputOf<typeof listModels>['models'][number]
export type KnownModel = OutputOf<typeof listKnownModels>['models'][number]
export type FullBackups = OutputOf<typeof listFullBackups>
export type VerifiedBackup = OutputOf<typeof verifyBackup>
export type Setting = OutputOf<typeof listSettings>['settings'][number]
export type Reloaded = OutputOf<typeof reloadService>
export type ToolServer = OutputOf<typeof listToolServers>['servers'][number]
export type ServerTool = OutputOf<typeof testToolServer>['tools'][number]
export type Eviction = OutputOf<typeof listEvictions>['evictions'][number]
export type { PullPiece }
