import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { type PersonaSnapshot, packageContent, type Scope, verifyStored } from '../../personas/personas.ts'
import { createChanges } from '../postgres/changes.ts'
import { checkDatabase } from '../postgres/check.ts'
import { openDatabase as openPostgres } from '../postgres/connection.ts'
import { createPostgresDriver } from '../postgres/driver.ts'
import { operatorFailure } from '../postgres/errors.ts'
import { snapshotIn as postgresSnapshot } from '../postgres/persona-snapshot.ts'
import type { PostgresSettings } from '../postgres/storage.ts'
import { vectorColumn } from '../postgres/vectors-column.ts'
import { movedTables } from '../schema/tables.ts'
import { snapshotIn as sqliteSnapshot } from '../sqlite/persona-snapshot.ts'
import { openReader } from '../sqlite/reader.ts'
import { openSqliteStorage, type SqliteSettings } from '../sqlite/storage.ts'
import { problemsIn } from '../stores/ledger-check.ts'
import { createLedgerNames } from '../stores/ledger-names.ts'
import { type PostgresSide, rowsFrom } from './postgres-rows.ts'

/** How far a check is. */
export interface CheckStep {
  readonly doing: string
  readonly share: number
}

export interface CheckControl {
  readonly onStep?: ((step: CheckStep) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export interface DatabaseCheck {
  /** One line that describes the database. */
  readonly database: string
  /** Personas that were verified, each with its log, state and memories. */
  readonly personas: number
  /** One line each; none where everything is right. */
  readonly problems: readonly string[]
}

/** The personas that stay, for both databases. */
const liveScopes = `SELECT id AS "personaId", user_id AS "userId" FROM persona WHERE substr(user_id, 1, 1) <> '~' ORDER BY id`

/** Problems of one persona that are listed. */
const mostProblems = 5

/** Reads and verifies all of a data folder's database. Throws `configuration` for damage, `not_found` for none. */
export async function checkFolder(settings: SqliteSettings, control: CheckControl): Promise<DatabaseCheck> {
  const database = join(settings.folder, 'aichat.db')
  if (!existsSync(database)) throw new AppError('not_found', `There is no database in ${settings.folder} yet`)
  control.onStep?.({ doing: 'reading the database', share: 0 })
  const storage = await openSqliteStorage(settings, {})
  try {
    const line = await storage.check()
    const ledger = await storage.ledger.check()
    const db = openReader(database)
    try {
      db.exec('BEGIN')
      const scopes = db.prepare<[], Scope>(liveScopes).all()
      const checked = await checkPersonas(scopes, async (scope) => sqliteSnapshot(db, scope, () => {}), control)
      return { database: line, ...checked, problems: [...ledger.map(ofLedger), ...checked.problems] }
    } finally {
      db.close()
    }
  } finally {
    await storage.close()
  }
}

/** The same for a PostgreSQL database, every row of which is read at one moment. */
export async function checkPostgres(
  { url }: Pick<PostgresSettings, 'url'>,
  control: CheckControl,
): Promise<DatabaseCheck> {
  const db = openPostgres(url)
  try {
    const line = await checkDatabase(db)
    const driver = createPostgresDriver(db, createChanges(db))
    const ledger = await problemsIn(driver, createLedgerNames(driver))
    const vectors = await vectorColumn(db)
    const checked = await db.transaction(
      async (tx) => {
        await tx.script('SET LOCAL idle_in_transaction_session_timeout = 0')
        await readAll({ tx, vectors }, control)
        const scopes = await tx.rows<Scope>(liveScopes)
        return checkPersonas(scopes, (scope) => postgresSnapshot(tx, vectors, scope), control)
      },
      { level: 'repeatable read', readOnly: true, statementTimeout: 0 },
    )
    return { database: line, ...checked, problems: [...ledger.map(ofLedger), ...checked.problems] }
  } catch (reason) {
    throw operatorFailure(reason)
  } finally {
    await db.close()
  }
}

/** Reads the rows of all tables, those next to them that the server keeps apart too. */
async function readAll(side: PostgresSide, { onStep = () => {}, signal }: CheckControl): Promise<void> {
  for (const [at, table] of movedTables.entries()) {
    onStep({ doing: `reading ${table.rows}`, share: (at / movedTables.length) * readingShare })
    for await (const _rows of rowsFrom(side, table)) signal?.throwIfAborted()
  }
}

/** The share of the work that reading is, before personas are verified. */
const readingShare = 0.5

async function checkPersonas(
  scopes: readonly Scope[],
  open: (scope: Scope) => Promise<PersonaSnapshot | undefined>,
  { onStep = () => {}, signal }: CheckControl,
): Promise<Omit<DatabaseCheck, 'database'>> {
  const problems: string[] = []
  for (const [at, scope] of scopes.entries()) {
    signal?.throwIfAborted()
    onStep({ doing: 'verifying personas', share: readingShare + (at / scopes.length) * (1 - readingShare) })
    const snapshot = await open(scope)
    if (!snapshot) continue
    const content = packageContent(snapshot, { exportedAt: 0, producer: '', embeddings: true })
    const result = await verifyStored(snapshot, content)
    const shownProblems = result.problems
      .slice(0, mostProblems)
      .map((problem) => `persona ${scope.personaId}: ${problem}`)
    const more = result.problems.length - shownProblems.length
    problems.push(...shownProblems, ...(more > 0 ? [`persona ${scope.personaId}: ${more} more`] : []))
  }
  return { personas: scopes.length, problems }
}

function ofLedger(problem: string): string {
  return `ledger: ${problem}`
}
