import { setTimeout as delay } from 'node:timers/promises'
import type { StoredPlugins } from '../../plugins/plugins.ts'
import { bundledDocuments } from '../files/plugins.ts'
import { type NamedKind, type NameOwner, nameStatement, withoutAccounts } from '../shared/names.ts'
import { openDatabase } from './connection.ts'
import type { Database } from './sql.ts'

/** A completion is given up after so long: milliseconds. Its user waits at the prompt. */
const patienceMs = 700

const dialect = { users: 'account', owner: '$1', persona: '$2' }

/** See `readNames`. */
export function readPostgresNames(
  url: string,
  kind: NamedKind,
  { administrator = '', persona = '' }: NameOwner,
): Promise<readonly string[]> {
  return quickly(url, async (db) => {
    const text = nameStatement(kind, dialect)
    const owner = text.includes('$1') ? [await ownerIn(db, administrator)] : []
    const values = text.includes('$2') ? [...owner, persona] : owner
    return (await db.rows<{ name: string }>(text, values)).map(({ name }) => name)
  })
}

/** The documents of the plugins, without their state. */
export function readPostgresPlugins(
  url: string,
  bundledPlugins: string,
): Promise<Pick<StoredPlugins, 'bundled' | 'overlays' | 'hidden'>> {
  return quickly(url, async (db) => {
    const rows = await db.rows<{ id: string; document: string | null; hidden: boolean }>(
      'SELECT id, document, hidden FROM plugin ORDER BY id',
    )
    return {
      bundled: bundledDocuments(bundledPlugins),
      overlays: new Map(rows.flatMap(({ id, document }) => (document === null ? [] : [[id, document]]))),
      hidden: new Set(rows.filter(({ hidden }) => hidden).map(({ id }) => id)),
    }
  })
}

/** Rejects where the database cannot answer soon. */
async function quickly<R>(url: string, read: (db: Database) => Promise<R>): Promise<R> {
  const db = openDatabase(url)
  const end = new AbortController()
  const late = delay(patienceMs, undefined, { signal: end.signal }).then(() => {
    const reason = new Error('The database is too slow for a completion')
    db.drop(reason)
    throw reason
  })
  try {
    return await Promise.race([read(db), late])
  } finally {
    end.abort()
    late.catch(() => {})
    await db.close()
  }
}

async function ownerIn(db: Database, preferred: string): Promise<string> {
  const administrator = await db.row<{ id: string }>(
    `SELECT id FROM account WHERE role = 'admin' ORDER BY (username_key = $1) DESC, created_at, number LIMIT 1`,
    [preferred.toLowerCase()],
  )
  return administrator?.id ?? withoutAccounts
}
