import { AppError } from '../../errors.ts'
import { changedLimits, isNone, type LimitDocument, mostSubjects, subjectOf } from '../../usage/limits/documents.ts'
import type { LimitStore, SavedWindow } from '../../usage/limits/store.ts'
import type { Context } from './context.ts'
import { moneyOf } from './limits-money.ts'
import { oneWriter } from './one-writer.ts'
import type { OwnedRows } from './owned-rows.ts'
import type { Transaction } from './sql.ts'

interface DocumentRow {
  readonly subject: string
  readonly document: string | null
  readonly revision: number
}

/** Revisions are given by one writer at a time: a reader that knows one has seen all before it. */
const next = '(SELECT coalesce(max(revision), 0) + 1 FROM limit_document)'

/** Limits in PostgreSQL. */
export function createLimitStore(context: Context): LimitStore {
  const { db, changes } = context
  const writing = <R>(write: (tx: Transaction) => Promise<R>) =>
    changes.writing('limits', async (tx) => {
      await oneWriter(tx, 'limits')
      return write(tx)
    })

  return {
    ...moneyOf(context),
    async changes(after) {
      const rows = await db.rows<DocumentRow>('SELECT * FROM limit_document WHERE revision > $1 ORDER BY revision', [
        after,
      ])
      return {
        revision: rows.at(-1)?.revision ?? after,
        changed: rows.map(({ subject, document }) => [
          subject,
          document === null ? null : (JSON.parse(document) as LimitDocument),
        ]),
      }
    },
    set: (subject, document) => writing((tx) => setDocument(tx, subject, document)),
    change: (subject, change) =>
      writing(async (tx) => {
        const row = await tx.row<{ document: string | null }>(
          'SELECT document FROM limit_document WHERE subject = $1',
          [subject],
        )
        const document = changedLimits(JSON.parse(row?.document ?? '{}') as LimitDocument, change)
        await (isNone(document) ? removeDocument(tx, subject) : setDocument(tx, subject, document))
        return document
      }),
    remove: (subject) => writing((tx) => removeDocument(tx, subject)),
    async windows() {
      const rows = await db.rows<{ subject: string; name: SavedWindow['name']; slots: string }>(
        'SELECT * FROM limit_window ORDER BY subject, name',
      )
      return rows.map(({ slots, ...window }) => ({ ...window, slots: JSON.parse(slots) as number[] }))
    },
    saveWindows: (subjects, windows) =>
      db.transaction(async (tx) => {
        await oneWriter(tx, 'limits')
        await tx.run('DELETE FROM limit_window WHERE subject = ANY($1)', [subjects])
        // Limits that were removed meanwhile take no windows with them into the next start.
        await tx.run(
          `INSERT INTO limit_window SELECT w.* FROM unnest($1::text[], $2::text[], $3::text[]) AS w (subject, name, slots)
           JOIN limit_document d ON d.subject = w.subject AND d.document IS NOT NULL`,
          [
            windows.map(({ subject }) => subject),
            windows.map(({ name }) => name),
            windows.map(({ slots }) => JSON.stringify(slots)),
          ],
        )
      }),
  }
}

async function setDocument(tx: Transaction, subject: string, document: LimitDocument): Promise<void> {
  const counted = await tx.row<{ others: number }>(
    'SELECT count(*) AS others FROM limit_document WHERE document IS NOT NULL AND subject <> $1',
    [subject],
  )
  if (counted!.others >= mostSubjects)
    throw new AppError('invalid', `At most ${mostSubjects} subjects can have limits`, {
      details: ['Remove limits that are not needed'],
    })
  await tx.run(
    `INSERT INTO limit_document VALUES ($1, $2, ${next})
       ON CONFLICT (subject) DO UPDATE SET document = excluded.document, revision = excluded.revision`,
    [subject, JSON.stringify(document)],
  )
}

/** Removes a document and its windows; false when there is none. The revision grows, also past one that was removed. */
async function removeDocument(tx: Transaction, subject: string): Promise<boolean> {
  const [changed] = await Promise.all([
    tx.run(
      `UPDATE limit_document SET document = NULL, revision = ${next} WHERE subject = $1 AND document IS NOT NULL`,
      [subject],
    ),
    tx.run('DELETE FROM limit_window WHERE subject = $1', [subject]),
  ])
  return changed > 0
}

/** The limits of a user go with the account. The first administrator takes over those of the local user. */
export const limitOwnership: OwnedRows = {
  async reassign(tx, from, to) {
    const [before, after] = [subjectOf('user', from), subjectOf('user', to)]
    await oneWriter(tx, 'limits')
    await tx.run(
      `INSERT INTO limit_document SELECT $1, document, ${next} FROM limit_document
         WHERE subject = $2 AND document IS NOT NULL
         ON CONFLICT (subject) DO NOTHING`,
      [after, before],
    )
    if (await removeDocument(tx, before)) await tellOfLimits(tx)
  },
  async remove(tx, owner) {
    await oneWriter(tx, 'limits')
    if (await removeDocument(tx, subjectOf('user', owner))) await tellOfLimits(tx)
  },
}

/** The caller's transaction tells of accounts alone. */
async function tellOfLimits(tx: Transaction): Promise<void> {
  await tx.run(`UPDATE change SET number = number + 1 WHERE kind = 'limits'`)
}
