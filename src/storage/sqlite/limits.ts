import { AppError } from '../../errors.ts'
import {
  changedLimits,
  isNone,
  type LimitChange,
  type LimitDocument,
  mostSubjects,
  subjectOf,
} from '../../usage/limits/documents.ts'
import type { LimitStore, SavedWindow } from '../../usage/limits/store.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'
import { moneyOf } from './limits-money.ts'
import type { OwnedRows } from './owned-rows.ts'

interface DocumentRow {
  readonly subject: string
  readonly document: string | null
  readonly revision: number
}

const next = '(SELECT ifnull(max(revision), 0) + 1 FROM limit_document)'

/** Limits in SQLite. */
export function createLimitStore(db: Database, changes: OwnChanges): LimitStore {
  const changed = db.prepare<[number], DocumentRow>('SELECT * FROM limit_document WHERE revision > ? ORDER BY revision')
  const count = db
    .prepare<[string], number>('SELECT count(*) FROM limit_document WHERE document IS NOT NULL AND subject <> ?')
    .pluck()
  const put = db.prepare<[string, string]>(
    `INSERT INTO limit_document VALUES (?, ?, ${next})
       ON CONFLICT (subject) DO UPDATE SET document = excluded.document, revision = excluded.revision`,
  )
  const read = db.prepare<[string], string | null>('SELECT document FROM limit_document WHERE subject = ?').pluck()
  const write = (subject: string, document: LimitDocument) => {
    if (count.get(subject)! >= mostSubjects)
      throw new AppError('invalid', `At most ${mostSubjects} subjects can have limits`, {
        details: ['Remove limits that are not needed'],
      })
    put.run(subject, JSON.stringify(document))
  }
  const set = db.transaction(write)
  const change = db.transaction((subject: string, change: LimitChange) => {
    const before = read.get(subject) ?? '{}'
    const document = changedLimits(JSON.parse(before) as LimitDocument, change)
    if (isNone(document)) removeDocument(db, subject)
    else write(subject, document)
    return document
  })
  const remove = db.transaction((subject: string) => removeDocument(db, subject))
  const clearWindows = db.prepare<[string]>('DELETE FROM limit_window WHERE subject = ?')
  // Limits that were removed meanwhile take no windows with them into the next start.
  const addWindow = db.prepare<[string, string, string, string]>(
    `INSERT INTO limit_window SELECT ?, ?, ? WHERE EXISTS
       (SELECT 1 FROM limit_document WHERE subject = ? AND document IS NOT NULL)`,
  )
  const save = db.transaction((subjects: readonly string[], windows: readonly SavedWindow[]) => {
    for (const subject of subjects) clearWindows.run(subject)
    for (const { subject, name, slots } of windows) addWindow.run(subject, name, JSON.stringify(slots), subject)
  })

  return {
    ...moneyOf(db),
    changes(after) {
      const rows = changed.all(after)
      return {
        revision: rows.at(-1)?.revision ?? after,
        changed: rows.map(({ subject, document }) => [
          subject,
          document === null ? null : (JSON.parse(document) as LimitDocument),
        ]),
      }
    },
    async set(subject, document) {
      set.immediate(subject, document)
      changes.wroteLimits()
    },
    async change(subject, wanted) {
      const document = change.immediate(subject, wanted)
      changes.wroteLimits()
      return document
    },
    async remove(subject) {
      const isRemoved = remove.immediate(subject)
      changes.wroteLimits()
      return isRemoved
    },
    async windows() {
      const rows = db
        .prepare<[], { subject: string; name: SavedWindow['name']; slots: string }>('SELECT * FROM limit_window')
        .all()
      return rows.map(({ slots, ...window }) => ({ ...window, slots: JSON.parse(slots) as number[] }))
    },
    saveWindows: async (subjects, windows) => save.immediate(subjects, windows),
  }
}

/** Removes a document and its windows; false when there is none. The revision grows, also past one that was removed. */
function removeDocument(db: Database, subject: string): boolean {
  const { changes } = db
    .prepare<[string]>(
      `UPDATE limit_document SET document = NULL, revision = ${next} WHERE subject = ? AND document IS NOT NULL`,
    )
    .run(subject)
  if (changes > 0) db.prepare<[string]>('DELETE FROM limit_window WHERE subject = ?').run(subject)
  return changes > 0
}

/** The limits of a user go with the account. The first administrator takes over those of the local user. */
export const limitOwnership: OwnedRows = {
  reassign(db, from, to) {
    const [before, after] = [subjectOf('user', from), subjectOf('user', to)]
    db.prepare(
      `INSERT INTO limit_document SELECT ?, document, ${next} FROM limit_document WHERE subject = ? AND document IS NOT NULL
         ON CONFLICT (subject) DO NOTHING`,
    ).run(after, before)
    removeDocument(db, before)
  },
  remove(db, owner) {
    removeDocument(db, subjectOf('user', owner))
  },
}
