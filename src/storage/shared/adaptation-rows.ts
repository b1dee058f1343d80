import type { AdaptationRecord } from '../../personas/adaptation/log.ts'
import type { Learned } from '../../personas/adaptation/state.ts'
import type { Scope } from '../../personas/memory/memory.ts'

/** A state as its table keeps it. */
export interface StateRow {
  readonly algorithm: string
  readonly sequence: number
  readonly hash: string
  readonly learned: string
}

/** A record as it is kept: the owner stands in the persona's row alone, so that a persona which gets another one keeps its log. */
export function textOfRecord(record: AdaptationRecord): string {
  const { persona_id: _persona, user_id: _user, ...content } = record
  return JSON.stringify(content)
}

/** The record of a kept text. */
export function recordOf(scope: Scope, text: string): AdaptationRecord {
  return { ...JSON.parse(text), persona_id: scope.personaId, user_id: scope.userId }
}

/** A state as the text that is kept. */
export function encodeLearned(learned: Learned): string {
  return JSON.stringify({ ...learned, traits: [...learned.traits], preferences: [...learned.preferences] })
}

/** The state of a kept text. */
export function decodeLearned(text: string): Learned {
  const { traits, preferences, ...rest } = JSON.parse(text)
  return { ...rest, traits: new Map(traits), preferences: new Map(preferences) }
}
