import type { MemoryFilter } from '../../personas/personas.ts'
import { type Statement, sql, word } from '../port/port.ts'

/** The speaker of a memory as its index has it; '' for none, and for a label that is no text. */
const speakerColumn = word(
  `CASE json_type(metadata, '$.speaker') WHEN 'text' THEN metadata ->> '$.speaker' ELSE '' END`,
  'speaker',
)

/** A condition of memories that retention takes, and its opposite. */
export const isLoose = word('pinned = 0', 'NOT pinned')
export const isPinnedRow = word('pinned = 1', 'pinned')

/** The conditions of a filter on the columns of `memory`, the only table with such columns; undefined for a filter without any. */
export function conditionOf({
  category,
  speaker,
  conversation,
  after,
  before,
  pinned,
  idPrefix,
}: MemoryFilter): Statement | undefined {
  const conditions: Statement[] = []
  if (category !== undefined) conditions.push(sql`category = ${category}`)
  if (speaker !== undefined) conditions.push(sql`${speakerColumn} = ${speaker}`)
  if (conversation !== undefined) conditions.push(sql`conversation = ${conversation}`)
  if (after !== undefined) conditions.push(sql`timestamp >= ${after}`)
  if (before !== undefined) conditions.push(sql`timestamp < ${before}`)
  if (pinned !== undefined) conditions.push(sql`pinned = ${pinned}`)
  if (idPrefix !== undefined)
    // No text of Unicode sorts behind its last character.
    conditions.push(sql`id >= ${idPrefix} AND id < ${`${idPrefix}\u{10ffff}`}`)
  return conditions.length === 0 ? undefined : conditions.reduce((all, one) => sql`${all} AND ${one}`)
}

/** The condition of memories that have not expired. */
export function isUnexpired(since = Number.MIN_SAFE_INTEGER): Statement {
  return sql`(${isPinnedRow} OR stored_at >= ${since})`
}
