/**
 * Everything that can be asked of aichat: an operation has an input and output schema, a rule of access and a function.
 * REST routes, OpenAPI, the client of a daemon and the commands follow from the table.
 * Uses: `App`, and the types and rules of the areas; at run time never a face or the edge.
 * Begin with: `operation.ts` (what an operation is), `table.ts` (all of them), `chat.ts`.
 */
export { authorise, type Mode } from './access.ts'
export { adaptPersona, listAdaptations, showMemoryOwner, showState } from './adaptation.ts'
export { askInProcess, type LocalCaller, localOwner, parseInput } from './ask.ts'
export { showAudit } from './audit.ts'
export { changePassword, login, logout, register, resetPassword, setUp, systemInfo, whoAmI } from './auth.ts'
export { createBackup, listFullBackups, removeBackup, verifyBackup } from './backups.ts'
export { boundText, chat, chatInput, countTokens, listChatModels, mostMessages, previewChat, routed } from './chat.ts'
export type { ChatOrder, ReadyChat } from './chat-order.ts'
export { type ClientModel, clientEmbeddingModels, clientModels } from './client-models.ts'
export { compactSession } from './compact-session.ts'
export { recordDeed, recordedAtEnd } from './deeds.ts'
export type { readDocument } from './documents.ts'
export { createEmbeddings, embeddingsInput, embeddingsLimit } from './embeddings.ts'
export { requireListedPersona } from './key-lists.ts'
export { createKey, keyView, listKeys, revokeKey, rotateKey, showKey, updateKey } from './keys.ts'
export { changeLimit, checkLimit, limitsInput, listLimits, removeLimit, resetLimit, showLimit } from './limits.ts'
export { completeEach, type ReadyChats, streamEach } from './many-chats.ts'
export {
  addMemory,
  editMemory,
  listCategories,
  listEvictions,
  listMemories,
  removeMemory,
  searchMemories,
  showMemory,
  wipeMemories,
} from './memories.ts'
export { showModel } from './model-details.ts'
export { listModels, refreshModels, restoreModels } from './models.ts'
export {
  type Ask,
  type AskStream,
  type Call,
  type Caller,
  Download,
  type Operation,
  type OutputOf,
  type PublicCall,
} from './operation.ts'
export { backUpPersona, exportPersona, importPersona, listBackups, restorePersona, verifyPersona } from './packages.ts'
export {
  createPersona,
  listEmbeddingModels,
  listPersonas,
  removePersona,
  showPersona,
  updatePersona,
} from './personas.ts'
export { plainOrder } from './plain-order.ts'
export { setPluginKey } from './plugin-keys.ts'
export {
  activatePlugin,
  currentPlugin,
  deactivatePlugin,
  exportPlugin,
  installPlugin,
  listPlugins,
  pluginStatus,
  removePlugin,
  showPlugin,
  testPlugin,
  updatePlugin,
} from './plugins.ts'
export { completeChat, prepareChat, reportHeaders, streamChat } from './prepare-chat.ts'
export { listPrices, longestPriceFile, setPrices, unsetPrice } from './prices.ts'
export { addProfileLine, editProfileLine, forgetMemories, removeProfileLine, showProfile } from './profile.ts'
export { listKnownModels, type PullPiece, pullModel, removeModel } from './pulled-models.ts'
export { listRequests, showLoad } from './requests.ts'
export { reloadService, runningService } from './running-service.ts'
export { serviceStatus } from './service.ts'
export {
  appendToSession,
  createSession,
  listSessions,
  removeSession,
  removeSessions,
  renameSession,
  searchSessions,
  showSession,
  undoSession,
} from './sessions.ts'
export { listSettings } from './settings.ts'
export { cloneVoice, designVoice, listVoicesOfServers, showSpeechHealth, speakText } from './speech.ts'
export { operations } from './table.ts'
export { titleSession } from './title-session.ts'
export type { listToolServers, testToolServer } from './tool-servers.ts'
export { checkUsage, exportUsage, listAttempts, pruneUsage, showLastHour, showUsage } from './usage.ts'
export { countUsers, createUser, listUsers, removeUser, showUser, updateUser } from './users.ts'
