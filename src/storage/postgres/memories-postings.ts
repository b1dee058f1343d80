import type { SpellingLookup } from '../../personas/personas.ts'
import type { IndexedText } from '../port/memory-index.ts'
import { insertNamed, rows, run, type Statement, sql, tableOf, together, type Work } from '../port/port.ts'
import { width } from '../shared/memory-scope.ts'
import { mostPostings } from '../shared/memory-scoring.ts'
import { blockOf, changeBlock, indexedBeginning, indexedTerm, readBlock } from './memories-blocks.ts'

const postings = {
  table: 'memory_posting',
  columns: { scope_id: 'integer', term: 'text', block: 'integer', own: 'bytes', around: 'bytes' },
  onConflict: '(scope_id, term, block) DO UPDATE SET own = excluded.own, around = excluded.around',
} as const

interface BlockRow extends BlockKey {
  readonly own: Buffer
  readonly around: Buffer
}

/** The memories that a set of a block gains and loses. */
interface SetChange {
  readonly added: number[]
  readonly removed: number[]
}

interface BlockKey {
  readonly term: string
  readonly block: number
}

/** Rows of a scope. Each is looked up by itself: `OFFSET` keeps the planner from reading all rows of a scope to join them. */
function eachRow(scopeId: number, keys: readonly BlockKey[]): Statement {
  const asked = tableOf(
    { term: 'text', block: 'integer' },
    keys.map(({ term, block }) => [term, block]),
  )
  return sql`${asked} AS asked CROSS JOIN LATERAL (SELECT ctid, * FROM memory_posting
    WHERE scope_id = ${scopeId} AND term = asked.term AND block = asked.block OFFSET 0) p`
}

/** Collects the changes of a scope's full-text index, and writes each of its rows once. */
export function createPostingChanges(scopeId: number) {
  const changes = new Map<string, { term: string; block: number; own: SetChange; around: SetChange }>()

  return {
    /** Replaces the terms of a memory; it is new without `old`, and gone without `fresh`. */
    change(memoryId: number, old: IndexedText | undefined, fresh: IndexedText | undefined): void {
      const number = memoryId & (width - 1)
      compare(number, 'own', ownTerms(old), ownTerms(fresh))
      compare(number, 'around', aroundTerms(old), aroundTerms(fresh))
    },

    /** Expects that the caller has locked the scope. */
    *write(): Work<void> {
      if (changes.size === 0) return
      const all = [...changes.values()]
      const found = yield* rows<BlockRow>(sql`SELECT p.term, p.block, p.own, p.around FROM ${eachRow(scopeId, all)}`)
      const known = new Map(found.map((row) => [keyOf(row.term, row.block), row]))
      const written = all.map(({ term, block, own, around }) => {
        const before = known.get(keyOf(term, block))
        const sets = { own: changeBlock(before?.own, own), around: changeBlock(before?.around, around) }
        return { scope_id: scopeId, term, block, ...sets }
      })
      const isEmpty = ({ own, around }: (typeof written)[number]) => own.length === 0 && around.length === 0
      const empty = written.filter(isEmpty)
      yield* together(
        insertNamed(
          postings,
          written.filter((row) => !isEmpty(row)),
        ),
        ...(empty.length === 0 ? [] : [run(removed(scopeId, empty))]),
      )
    },
  }

  function compare(
    number: number,
    set: 'own' | 'around',
    before: ReadonlySet<string>,
    after: ReadonlySet<string>,
  ): void {
    for (const term of after) if (!before.has(term)) of(term, number)[set].added.push(number)
    for (const term of before) if (!after.has(term)) of(term, number)[set].removed.push(number)
  }

  function of(asked: string, number: number) {
    const term = indexedTerm(asked)
    const block = blockOf(number)
    const key = keyOf(term, block)
    const known = changes.get(key)
    if (known) return known
    const fresh = { term, block, own: { added: [], removed: [] }, around: { added: [], removed: [] } }
    changes.set(key, fresh)
    return fresh
  }
}

function removed(scopeId: number, keys: readonly BlockKey[]): Statement {
  return sql`DELETE FROM memory_posting WHERE ctid = ANY (ARRAY(SELECT p.ctid FROM ${eachRow(scopeId, keys)}))`
}

function keyOf(term: string, block: number): string {
  return `${block} ${term}`
}

const nothing: ReadonlySet<string> = new Set()

/** The terms of a memory's own text, and those around it. */
export function termsIn(text: IndexedText): {
  readonly own: ReadonlySet<string>
  readonly around: ReadonlySet<string>
} {
  return { own: ownTerms(text), around: aroundTerms(text) }
}

function ownTerms(text: IndexedText | undefined): ReadonlySet<string> {
  return text ? setOf(text.terms) : nothing
}

/** The mark at the beginning of a line of context is no term. */
function aroundTerms(text: IndexedText | undefined): ReadonlySet<string> {
  if (!text) return nothing
  const lines = text.context.split('\n').map((line) => line.slice(line.indexOf(' ') + 1))
  return setOf([text.about, ...lines].join(' '))
}

function setOf(terms: string): ReadonlySet<string> {
  const set = new Set(terms.split(' '))
  set.delete('')
  return set
}

/** A range of terms that a search looks up. */
export interface Lookup {
  readonly low: string
  /** The end of the range for a lookup of a beginning; null for one of a whole term. */
  readonly high: string | null
}

/** The lookups of a query: first its terms, then those for the words that are spelled like them. */
export function lookupsOf(
  terms: readonly string[],
  alike: readonly (readonly SpellingLookup[])[] = [],
): readonly Lookup[] {
  return [
    ...terms.map((term) => ({ low: indexedTerm(term), high: null })),
    ...alike.flat().map(({ text, isPrefix }) =>
      isPrefix
        ? // No text of Unicode sorts behind its last character.
          { low: indexedBeginning(text), high: `${indexedBeginning(text)}\u{10ffff}` }
        : { low: indexedTerm(text), high: null },
    ),
  ]
}

export interface FoundSet {
  readonly block: number
  readonly bytes: Buffer
}

/**
 * The numbers within the scope that these sets hold and that pass, the newest first, and no more than one term may bring where
 * the scope is large.
 */
export function numbersIn(sets: readonly FoundSet[], memories: number, passes?: ReadonlySet<number>): number[] {
  const most = memories > mostPostings ? mostPostings : Number.POSITIVE_INFINITY
  const found = new Set<number>()
  for (const [block, bytes] of newestFirst(sets)) {
    const numbers = bytes.flatMap((each) => readBlock(block, each))
    // Those of several terms are in order only together.
    if (bytes.length > 1) numbers.sort((a, b) => a - b)
    for (const number of numbers.reverse()) {
      if (found.size >= most) return [...found]
      if (!passes || passes.has(number)) found.add(number)
    }
  }
  return [...found]
}

function newestFirst(sets: readonly FoundSet[]): [block: number, sets: Buffer[]][] {
  const blocks = new Map<number, Buffer[]>()
  for (const { block, bytes } of sets) {
    const known = blocks.get(block)
    if (known) known.push(bytes)
    else blocks.set(block, [bytes])
  }
  return [...blocks].sort(([one], [other]) => other - one)
}
