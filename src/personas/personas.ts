/**
 * Personas: who they are, what they remember and how they adapt. `memory/` keeps and ranks memories, `adaptation/` learns manners,
 * `chat/` puts both into a chat, `package/` is the DNA package, `card/` character cards (`card-file.ts` recognises them, `card.ts`
 * reads them), `arrival/` files of other programs.
 * Uses: `chat` for the shape of messages, the tools; models and stores are interfaces here.
 * Begin with: `persona.ts` (with the defaults of a persona), `memory/memories.ts` (storing and searching), `memory/ranking.ts`, `chat/persona-chat.ts`.
 */
export { type Adaptation, type AdaptationStore, createAdaptation } from './adaptation/adaptations.ts'
export { chatHooks } from './adaptation/hooks.ts'
export { type AdaptationRecord, emptyLog, headOf } from './adaptation/log.ts'
export { fold } from './adaptation/replay.ts'
export { adaptationRequest } from './adaptation/request.ts'
export { algorithm } from './adaptation/rules.ts'
export { type Learned, nothingLearned } from './adaptation/state.ts'
export { greetingOf } from './card/greeting.ts'
export { createBehind } from './chat/behind.ts'
export { compaction, isCompaction, replaceable, replacedLength, summaryRequest } from './chat/compaction.ts'
export {
  type Among,
  type AnswerRecord,
  answerRecord,
  type Conversation,
  type ConversationSearch,
  type ConversationStore,
  conversationName,
  type FoundMessage,
  type MessagePart,
  type NewConversation,
  type SavedMessage,
} from './chat/conversation.ts'
export { createConversations } from './chat/conversations.ts'
export { type AskModel, createExtraction, type OnBehalf } from './chat/extraction.ts'
export type { KeepExchange } from './chat/keep-exchange.ts'
export { withoutFiles } from './chat/kept-files.ts'
export { meantBy } from './chat/meant.ts'
export {
  type AboutAnswer,
  createPersonaChat,
  type OpenRequest,
  type PreparedChat,
} from './chat/persona-chat.ts'
export { type SearchGroup, searchTermsOf } from './chat/search-words.ts'
export { withoutFields } from './fields.ts'
export { createImportCounts } from './import-counts.ts'
export { builtinModel, type Embedder, type Embedders, type EmbeddingModel, type TextRole } from './memory/embedding.ts'
export { irregularForms } from './memory/irregular-forms.ts'
export { kindOf, rankOfWorth } from './memory/kinds.ts'
export { createLorebooks } from './memory/lorebooks.ts'
export { type Maintenance, startMaintenance } from './memory/maintenance.ts'
export { createMemories, type Memories, type MemoryView } from './memory/memories.ts'
export {
  type Candidate,
  type ChangedBackups,
  categoryOf,
  conversationOf,
  type EditedMemory,
  type EmbeddedMemory,
  type EmbeddingClaim,
  type EmbeddingSpace,
  type Eviction,
  eviction,
  type Found,
  isPinned,
  keptEvictions,
  type ListOptions,
  longestTerms,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryStore,
  type Metadata,
  maxContentLength,
  memoryChange,
  memoryInput,
  mostSearched,
  type NewMemory,
  type PendingPage,
  type RetentionPolicy,
  ranksOfWorth,
  type Scope,
  type SearchQuery,
  type SpellingLookup,
  scoreParts,
  spaceKeptMs,
  speakerOf,
  type Unexpired,
  type Vector,
  type WipeFilter,
} from './memory/memory.ts'
export { labelsSaidAgain } from './memory/present.ts'
export { aboutTerms, gap, isQuestion, type Neighbour, reach, writeContext } from './memory/ranking-index.ts'
export { inverseFrequency } from './memory/ranking-lexical.ts'
export { isFunctionWord, plain, termsOf, wordsOf } from './memory/ranking-terms.ts'
export { withoutSecondL } from './memory/stem.ts'
export { timeForms, timeFromText } from './memory/time-words.ts'
export { createPersonas } from './owned-personas.ts'
export {
  type ArchivedMemory,
  type Extent,
  type IncomingMemory,
  type LogEnd,
  type Outcome,
  type Passthrough,
  type PersonaArchive,
  type PersonaSnapshot,
  type PersonaWrite,
  type PublishConditions,
  type Revision,
  type StagedPersona,
  snapshotBatch,
} from './package/archive.ts'
export { type Backups, createBackups } from './package/backup.ts'
export type { BackupFiles, BackupStore } from './package/backup-store.ts'
export { packageContent } from './package/export.ts'
export type { ExportedFile } from './package/exported-file.ts'
export { packageLimits } from './package/format.ts'
export { type BackupRow, backupRow, importOutcome, verification } from './package/outcomes.ts'
export { createPersonaPackages } from './package/packages.ts'
export { notedFolder, openScratch, type Scratch, sweepScratch } from './package/scratch.ts'
export { LocalPackage, type ReceivedPackage, receivePackage } from './package/upload.ts'
export { verifyPackage } from './package/verify-file.ts'
export { verifyStored } from './package/verify-stored.ts'
export { createPackageWriter, type PackageWriterTask, performTask } from './package/write-package.ts'
export type { PersonaWriteTask } from './package/write-task.ts'
export {
  type OpenedPersona,
  type Persona,
  type PersonaStore,
  type Personas,
  type PersonaView,
  personaChange,
  personaInput,
  personaView,
  requireOwn,
  scopeOf,
  viewOf,
} from './persona.ts'
export {
  emptyProfile,
  type Profile,
  type ProfileStore,
  profileLimits,
} from './profile/profile.ts'
export { createProfiles } from './profile/profiles.ts'
export { profileLine, profileSlots } from './profile-line.ts'
