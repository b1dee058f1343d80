import { AppError } from '../../errors.ts'
import {
  changedLimits,
  isNone,
  type LimitChange,
  type LimitChanges,
  type LimitDocument,
  type LimitStore,
  mostSubjects,
  type SavedWindow,
  subjectOf,
} from '../../usage/usage.ts'
import { among, lock, row, rows, run, type StoreDatabase, sql, tableOf, together, type Work } from '../port/port.ts'
import { moneyOf, type Processes } from './limit-money.ts'
import { parallel, sharesOf } from './limit-shares.ts'
import type { OwnedRows } from './owned-rows.ts'

interface DocumentRow {
  readonly subject: string
  readonly document: string | null
  readonly revision: number
}

/** Revisions are given by one writer at a time: a reader that knows one has seen all before it. */
const next = sql`(SELECT coalesce(max(revision), 0) + 1 FROM limit_document)`

/** Limits, and the accounts of their budgets. */
export function createLimitStore(db: StoreDatabase, processes: Processes): LimitStore {
  return {
    ...moneyOf(db, processes),
    ...sharesOf(db, processes),
    changes(after) {
      const found = db.read(
        rows<DocumentRow>(sql`SELECT * FROM limit_document WHERE revision > ${after} ORDER BY revision`),
      )
      return found instanceof Promise ? found.then((read) => changesIn(read, after)) : changesIn(found, after)
    },
    set: (subject, document) => db.write(() => setDocument(subject, document), 'limits'),
    change: (subject, change) => db.write(() => changeDocument(subject, change), 'limits'),
    remove: (subject) => db.write(() => removeDocument(subject), 'limits'),
    async windows() {
      const found = await db.read(
        rows<{ subject: string; name: SavedWindow['name']; slots: string }>(
          sql`SELECT * FROM limit_window WHERE name <> ${parallel} ORDER BY subject, name`,
        ),
      )
      return found.map(({ slots, ...window }) => ({ ...window, slots: JSON.parse(slots) as number[] }))
    },
    saveWindows: (subjects, windows) => db.write(() => saveWindows(subjects, windows)),
  }
}

function changesIn(found: readonly DocumentRow[], after: number): LimitChanges {
  return {
    revision: found.at(-1)?.revision ?? after,
    changed: found.map(({ subject, document }) => [
      subject,
      document === null ? null : (JSON.parse(document) as LimitDocument),
    ]),
  }
}

function* changeDocument(subject: string, change: LimitChange): Work<LimitDocument> {
  const found = yield* row<{ document: string | null }>(
    sql`SELECT document FROM limit_document WHERE subject = ${subject}`,
  )
  const document = changedLimits(JSON.parse(found?.document ?? '{}') as LimitDocument, change)
  if (isNone(document)) yield* removeDocument(subject)
  else yield* setDocument(subject, document)
  return document
}

function* setDocument(subject: string, document: LimitDocument): Work<void> {
  const counted = yield* row<{ others: number }>(
    sql`SELECT count(*) AS others FROM limit_document WHERE document IS NOT NULL AND subject <> ${subject}`,
  )
  if (counted!.others >= mostSubjects)
    throw new AppError('invalid', `At most ${mostSubjects} subjects can have limits`, {
      details: ['Remove limits that are not needed'],
    })
  yield* run(
    sql`INSERT INTO limit_document VALUES (${subject}, ${JSON.stringify(document)}, ${next})
        ON CONFLICT (subject) DO UPDATE SET document = excluded.document, revision = excluded.revision`,
  )
}

/** Removes a document and its windows; false when there is none. The revision grows, also past one that was removed. */
function* removeDocument(subject: string): Work<boolean> {
  const [changed] = yield* together(
    run(
      sql`UPDATE limit_document SET document = NULL, revision = ${next}
          WHERE subject = ${subject} AND document IS NOT NULL`,
    ),
    run(sql`DELETE FROM limit_window WHERE subject = ${subject}`),
  )
  return changed > 0
}

/** One writer of limits at a time, in a transaction that did not begin as one. */
function onlyWriter(): Work<void> {
  return lock(sql`SELECT 1 FROM change WHERE kind = 'limits' FOR UPDATE`)
}

function* saveWindows(subjects: readonly string[], windows: readonly SavedWindow[]): Work<void> {
  const table = tableOf(
    { subject: 'text', name: 'text', slots: 'text' },
    windows.map(({ subject, name, slots }) => [subject, name, JSON.stringify(slots)]),
  )
  yield* together(
    onlyWriter(),
    run(sql`DELETE FROM limit_window WHERE subject ${among(subjects)}`),
    // Limits that were removed meanwhile take no windows with them into the next start.
    run(
      sql`INSERT INTO limit_window SELECT w.subject, w.name, w.slots FROM ${table} AS w
          JOIN limit_document d ON d.subject = w.subject AND d.document IS NOT NULL`,
    ),
  )
}

/** The limits of a user go with the account. The first administrator takes over those of the local user. */
export const limitOwnership: OwnedRows = {
  *reassign(from, to) {
    const [before, after] = [subjectOf('user', from), subjectOf('user', to)]
    yield* onlyWriter()
    yield* run(
      sql`INSERT INTO limit_document SELECT CAST(${after} AS text), document, ${next} FROM limit_document
            WHERE subject = ${before} AND document IS NOT NULL
          ON CONFLICT (subject) DO NOTHING`,
    )
    if (yield* removeDocument(before)) yield* changed()
  },
  *remove(owner) {
    yield* onlyWriter()
    if (yield* removeDocument(subjectOf('user', owner))) yield* changed()
  },
}

/** Tells other machines of changed limits: the transaction reports accounts alone. */
function changed(): Work<void> {
  return lock(sql`UPDATE change SET number = number + 1 WHERE kind = 'limits'`)
}
