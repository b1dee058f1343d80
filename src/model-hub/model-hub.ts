/**
 * Fetches models from a hub or a mirror, verifies them, and keeps a record of what lies on the disk.
 * Uses: `http/send.ts`, `storage` for files that are replaced atomically.
 * Begin with: `known-models.json` (what can be pulled), `pull.ts`.
 */
export { openHub, type PullOptions } from './hub.ts'
export { defaultChatModel, knownModels, nonCommercialParts } from './known-models.ts'
export type { PullProgress } from './pull.ts'
