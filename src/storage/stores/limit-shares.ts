import { randomUUID } from 'node:crypto'
import type { ChangedCounts, LimitStore, SavedSlots, SharedCounts, WindowName } from '../../usage/usage.ts'
import {
  among,
  forUpdate,
  type InsertInto,
  insert,
  row,
  rows,
  type StoreDatabase,
  sql,
  together,
  type Work,
  word,
} from '../port/port.ts'
import type { Processes } from './limit-money.ts'

/** The name of the rows with the requests at the same time. */
export const parallel = 'parallel'

/** The requests at the same time of one instance; a process may be several. */
type Under = readonly [process: string, instance: string, requests: number]

interface WindowRow {
  readonly subject: string
  readonly name: string
  readonly slots: string
}

/** Milliseconds since 1970 by the clock of the database. */
const clock = word(
  `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  'CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)',
)

const windowTable: InsertInto = {
  table: 'limit_window',
  columns: { subject: 'text', name: 'text', slots: 'text' },
  onConflict: '(subject, name) DO UPDATE SET slots = excluded.slots',
}

/** Counts of all instances: each change locks the documents of its subjects, which are there before the first count. */
export function sharesOf(db: StoreDatabase, processes: Processes): Pick<LimitStore, 'share' | 'dropEnded'> {
  const instance = randomUUID()
  const isOwn = (under: Under) => under[1] === instance

  function* share<R>(subjects: readonly string[], change: Change<R>): Work<R> {
    const stored = yield* lockCounts(subjects)
    const { counts, result } = change(
      new Map([...stored.rows].map(([subject, found]) => [subject, sharedOf(found, (under) => !isOwn(under))])),
      stored.at,
    )
    yield* write(
      stored.rows,
      [...counts].flatMap(([subject, { windows, here }]): WindowRow[] => {
        const others = underIn(stored.rows.get(subject)).filter((under) => !isOwn(under))
        const all = here > 0 ? [...others, [processes.mark, instance, here]] : others
        const texts = Object.entries(windows).map(([name, slots]) => ({ subject, name, slots: JSON.stringify(slots) }))
        return [...texts, { subject, name: parallel, slots: JSON.stringify(all) }]
      }),
    )
    return result
  }

  function* drop(subjects: readonly string[], hasEnded: (mark: string) => boolean): Work<void> {
    const { rows: stored } = yield* lockCounts(subjects)
    yield* write(
      stored,
      [...stored].map(([subject, found]) => {
        const left = underIn(found).filter(([mark]) => !hasEnded(mark))
        return { subject, name: parallel, slots: JSON.stringify(left) }
      }),
    )
  }

  return {
    share(subjects, change) {
      const sharing = () => db.writeSoon(() => share(subjects, change))
      const kept = processes.keep()
      return kept instanceof Promise ? kept.then(sharing) : sharing()
    },
    async dropEnded(subjects) {
      const found = await db.read(
        rows<{ slots: string }>(
          sql`SELECT slots FROM limit_window WHERE name = ${parallel} AND subject ${among(subjects)}`,
        ),
      )
      const marks = found.flatMap(({ slots }) => (JSON.parse(slots) as Under[]).map(([mark]) => mark))
      const hasEnded = await processes.ended(marks)
      if (!marks.some(hasEnded)) return false
      await db.writeSoon(() => drop(subjects, hasEnded))
      return true
    },
  }
}

type Change<R> = (
  counts: ReadonlyMap<string, SharedCounts>,
  at: number,
) => { readonly counts: ReadonlyMap<string, ChangedCounts>; readonly result: R }

/** The texts of a subject's rows by their names. */
type Found = ReadonlyMap<string, string>

/** Reads the rows of the subjects that have limits, which no other instance changes then until the transaction ends. */
function* lockCounts(subjects: readonly string[]): Work<{ rows: ReadonlyMap<string, Found>; at: number }> {
  const [locked, time, windows] = yield* together(
    rows<{ subject: string }>(
      sql`SELECT subject FROM limit_document WHERE subject ${among(subjects)} AND document IS NOT NULL
          ORDER BY subject ${forUpdate}`,
    ),
    row<{ at: number }>(sql`SELECT ${clock} AS at`),
    rows<WindowRow>(sql`SELECT * FROM limit_window WHERE subject ${among(subjects)}`),
  )
  const found = new Map(locked.map(({ subject }) => [subject, new Map<string, string>()]))
  for (const { subject, name, slots } of windows) found.get(subject)?.set(name, slots)
  return { rows: found, at: time!.at }
}

function underIn(found: Found | undefined): readonly Under[] {
  return JSON.parse(found?.get(parallel) ?? '[]') as Under[]
}

function sharedOf(found: Found, counts: (under: Under) => boolean): SharedCounts {
  const windows: Partial<Record<WindowName, SavedSlots>> = {}
  for (const [name, slots] of found) if (name !== parallel) windows[name as WindowName] = JSON.parse(slots) as number[]
  const elsewhere = underIn(found).reduce((sum, under) => sum + (counts(under) ? under[2] : 0), 0)
  return { windows, elsewhere }
}

/** Writes the rows that have changed, of subjects that have limits. */
function* write(stored: ReadonlyMap<string, Found>, all: readonly WindowRow[]): Work<void> {
  const changed = all.filter(({ subject, name, slots }) => {
    const found = stored.get(subject)
    return found !== undefined && slots !== (found.get(name) ?? '[]')
  })
  yield* insert(
    windowTable,
    changed.map(({ subject, name, slots }) => [subject, name, slots]),
  )
}
