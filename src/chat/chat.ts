/**
 * Takes a chat in one shape, chooses who answers it, converts it to that provider and the answer back, whole or streamed.
 * `protocol/` is the shape (messages, events, failures); `dialects/NAME/` is one wire format, which any
 * number of providers speak (a provider is a document in `plugins`); `tools/` are tools that a model calls;
 * `responses/` keeps responses and makes them in the background.
 * Uses: `plugins` and `accounts` for whom to ask and who asks, `metrics`, the tools; `http/send.ts` for the wire. What a
 * chat costs is counted in `usage`.
 * Begin with: `router.ts` (plans the targets), `attempts.ts` (the one retry loop), `provider.ts`, `dialects/dialects.ts`.
 */
export { createAttempts } from './attempts.ts'
export { type ChatCount, type ChatCounts, createChatCounts } from './chat-counts.ts'
export { type Circuits, createCircuits } from './circuit.ts'
export { badEnding } from './dialects/anthropic/response.ts'
export { clientDialects, dialectFor } from './dialects/dialects.ts'
export { ollama } from './dialects/ollama/dialect.ts'
export { createGenerateWriter, readGenerate, writeGenerated } from './dialects/ollama/generate.ts'
export { createCompletionWriter, promptsOf, readCompletion, writeCompletion } from './dialects/openai/completions.ts'
export {
  compactionPlace,
  compactionRequest,
  hasCompaction,
  keptMessages,
  ownCompaction,
  withSummaries,
} from './dialects/responses/compaction.ts'
export { responses } from './dialects/responses/dialect.ts'
export { itemId, responseObject, unrepeatedFields, writeUsage } from './dialects/responses/echo.ts'
export type { ResponseOptions } from './dialects/responses/output.ts'
export { fromClient } from './dialects/responses/placement.ts'
export type { OpenReasoning } from './dialects/responses/reasoning.ts'
export { writeResponses } from './dialects/responses/response.ts'
export { createStreamWriter, type ResponseWriter } from './dialects/responses/stream-writer.ts'
export { readWireError } from './dialects/shared/wire-error.ts'
export { withoutUnseen } from './dialects/unseen-media.ts'
export { neededTokens } from './fit-context.ts'
export type { FollowedRequest, RequestFacts } from './followed-request.ts'
export { createHealth, type Health, type PluginHealth } from './health.ts'
export { createKeyPools } from './key-pool.ts'
export { hostOf, isCloudName, isLoopback, notHere } from './local-only.ts'
export {
  type BookedCost,
  type Ending,
  type HeaderNames,
  type MeteredAttempt,
  type MeteredCall,
  type MeteredPlace,
  type MeteredRequest,
  type Metering,
  type Payer,
  PlaceRefused,
  type Purpose,
  type Reported,
} from './metering.ts'
export { personaIn, personaPrefix, unknownPlugin } from './model-address.ts'
export { createPlaceTable, type PlaceRow } from './place-table.ts'
export { collectReply } from './protocol/chunks.ts'
export {
  type ClientDialect,
  type ClientError,
  type Dialect,
  DialectError,
  type StreamWriter,
} from './protocol/dialect.ts'
export { isObject, type JsonObject, objectOf, parseObject, stringOf } from './protocol/json-object.ts'
export { mediaBytes, mediaNames, mediaSize } from './protocol/media.ts'
export {
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  type ContentPart,
  type Delta,
  type ExtraContent,
  type FinishReason,
  imageUrlOf,
  type Message,
  type ResponseFormat,
  type Tool,
  textOf,
  type Usage,
} from './protocol/messages.ts'
export { markPrefix } from './protocol/prefix.ts'
export { ChangedItems, isEnding, type ReadyIterator, readyIn } from './protocol/ready.ts'
export { createEventReader } from './protocol/sse.ts'
export { summaryWish } from './protocol/summary-wish.ts'
export { type Countable, estimateRequestTokens, textTokens } from './protocol/token-estimate.ts'
export type { UsageSoFar } from './protocol/usage-so-far.ts'
export { defaultTimeouts, httpTarget, type Target } from './provider.ts'
export { providerName } from './provider-name.ts'
export { createRequestBook, liveStates, type RequestBook } from './request-book.ts'
export { createBackground } from './responses/background.ts'
export { type Conversation, type Conversations, createConversations } from './responses/conversations.ts'
export { keptItems } from './responses/items.ts'
export type { Piece } from './responses/job.ts'
export { wrongField } from './responses/refusals.ts'
export { createResponses, type OpenedRequest, type ResponseParts } from './responses/responses.ts'
export type {
  Appended,
  Item,
  ItemPage,
  NewItems,
  NewResponse,
  Reader,
  ResponseBounds,
  ResponseObject,
  ResponseStore,
} from './responses/store.ts'
export type { Booking, RouteReport } from './route-report.ts'
export { type ChatCall, createRouter, type RoutedReply, type RoutedStream, type Router } from './router.ts'
export { createReasoningSeals, isSealed } from './sealed-reasoning.ts'
export { textLength } from './text-length.ts'
export { pinOf } from './tools/pins.ts'
export { createToolQuestions, type ToolQuestions } from './tools/questions.ts'
export type { ToolChat } from './tools/rounds.ts'
export type { ServerTool, ToolResult, ToolServer } from './tools/tool-server.ts'
export { type AskedCall, createToolbox, mostRounds, type Toolbox } from './tools/toolbox.ts'
export type { AskedPlace, RequestWatch, ToldAttempt } from './watch.ts'
