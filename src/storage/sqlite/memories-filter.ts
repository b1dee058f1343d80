import type { MemoryFilter } from '../../personas/memory/memory.ts'
import type { ScopeRow } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'

/** The speaker of a memory as its index has it; '' for none, and for a label that is no text. */
const speakerColumn = `CASE json_type(metadata, '$.speaker') WHEN 'text' THEN metadata ->> '$.speaker' ELSE '' END`

const conditions: Readonly<Record<keyof MemoryFilter, string>> = {
  category: 'category = @category',
  speaker: `${speakerColumn} = @speaker`,
  conversation: 'conversation = @conversation',
  after: 'timestamp >= @after',
  before: 'timestamp < @before',
  pinned: 'pinned = @pinned',
  // No text of Unicode sorts behind its last character.
  idPrefix: 'id >= @idPrefix AND id < @idPrefix || char(0x10ffff)',
}

/** The conditions of a filter on the columns of `memory`. */
export function conditionsOf(filter: MemoryFilter): readonly string[] {
  return Object.entries(conditions).flatMap(([name, sql]) =>
    filter[name as keyof MemoryFilter] === undefined ? [] : [sql],
  )
}

/** The named values for the conditions of a filter. */
export function valuesOfFilter({ pinned, ...filter }: MemoryFilter): Readonly<Record<string, unknown>> {
  return { ...filter, ...(pinned !== undefined && { pinned: Number(pinned) }) }
}

/** The memories of one scope that pass a filter. */
export interface Passing {
  /** A condition on a column that holds a memory's number; it names the `values` and `@scope`. */
  condition(column: string): string
  readonly values: Readonly<Record<string, unknown>>
  /** The numbers of all of them, where they are no more than were asked for. */
  readonly all: readonly number[] | undefined
}

/** Memories that are gathered before a search rather than tested one by one: some milliseconds' work. */
const gathered = 5_000

/** Finds out how a search is to apply a filter. Expects to run inside the search's transaction. */
export function createFilters(db: Database) {
  return {
    /** @param few so many are given as `all` */
    passing(scope: ScopeRow, filter: MemoryFilter | undefined, few: number): Passing | undefined {
      const wanted = conditionsOf(filter ?? {})
      if (!filter || wanted.length === 0) return undefined
      const where = ['scope_id = @scope', ...wanted].join(' AND ')
      const values = { ...valuesOfFilter(filter), scope: scope.scope_id }
      const first = db
        .prepare<[object], number>(`SELECT memory_id FROM memory WHERE ${where} LIMIT @few + 1`)
        .pluck()
        .all({ ...values, few })
      if (first.length <= few) return { condition: (column) => within(column, where), values, all: first }
      // To test each memory of a long list costs more than to gather the few that pass; where many pass, a list is cut off
      // before it was long.
      const most = Math.max(gathered, scope.memories >> 4)
      const count = db
        .prepare<[object], number>(`SELECT count(*) FROM (SELECT 1 FROM memory WHERE ${where} LIMIT @most)`)
        .pluck()
        .get({ ...values, most })!
      const condition = count < most ? within : eachOf
      return { condition: (column) => condition(column, where), values, all: undefined }
    },
  }
}

/** The sign keeps the numbers from being looked up one by one in the index of the outer statement. */
function within(column: string, where: string): string {
  return `+${column} IN (SELECT memory_id FROM memory WHERE ${where})`
}

function eachOf(column: string, where: string): string {
  return `EXISTS (SELECT 1 FROM memory AS one WHERE one.memory_id = ${column} AND ${where})`
}
