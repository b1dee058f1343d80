import type { IndexedText, MemoryIndex, Surrounded, TermsChange } from '../port/memory-index.ts'
import { among, rows, run, sql, together, type Work } from '../port/port.ts'
import { aboutOf, analysed, contextOf, type Known, type Near } from '../shared/memory-text.ts'

/** The terms of memories that go. */
export function* readTerms(numbers: readonly number[]): Work<readonly TermsChange[]> {
  const found = yield* rows<IndexedText & { memory_id: number }>(
    sql`SELECT memory_id, terms, about, context FROM memory_terms WHERE memory_id ${among(numbers)}`,
  )
  return found.map(({ memory_id, ...old }) => ({ number: memory_id, old, fresh: undefined }))
}

/**
 * The terms that memories get that were added or that have another text, time or label now, and those around them, now and
 * before. For `writeTerms`.
 */
export function* changedTerms(
  index: MemoryIndex,
  scopeId: number,
  changed: readonly number[],
  before: readonly number[],
): Work<readonly TermsChange[]> {
  if (changed.length + before.length === 0) return []
  const found = yield* index.surroundings(scopeId, changed, before)
  const byNumber = new Map(found.map((row) => [row.memory_id, row]))
  const isChanged = new Set(changed)
  const known: Known = new Map()
  return found.flatMap((row): TermsChange[] => {
    if (!row.around) return []
    const near = row.around.flatMap(([number, distance]): Near[] => {
      const other = byNumber.get(number)
      return other ? [{ row: other, distance }] : []
    })
    const old = oldOf(row)
    const own = isChanged.has(row.memory_id) ? undefined : old
    const { terms, about } = own ?? { terms: analysed(row, known).terms, about: aboutOf(row) }
    const fresh = { terms, about, context: contextOf(row, near, known) }
    const isSame = old?.terms === terms && old.about === about && old.context === fresh.context
    return isSame ? [] : [{ number: row.memory_id, old, fresh }]
  })
}

function oldOf({ terms, about, context }: Surrounded): IndexedText | undefined {
  return terms === null || about === null || context === null ? undefined : { terms, about, context }
}

/** Writes the index and the length of the scope's terms anew. */
export function* writeTerms(index: MemoryIndex, scopeId: number, changes: readonly TermsChange[]): Work<void> {
  if (changes.length === 0) return
  const gained = changes.reduce((sum, { old, fresh }) => sum + lengthOf(fresh) - lengthOf(old), 0)
  yield* together(
    index.write(scopeId, changes),
    ...(gained === 0
      ? []
      : [run(sql`UPDATE memory_scope SET length = length + ${gained} WHERE scope_id = ${scopeId}`)]),
  )
}

/** Characters, as SQLite counts them. */
function lengthOf(text: IndexedText | undefined): number {
  return text === undefined ? 0 : text.terms.length - (text.terms.match(/[\ud800-\udbff]/g)?.length ?? 0)
}
