import type { AuditEntry, AuditQuery, AuditRecord } from '../../accounts/users.ts'
import { row, rows, type Statement, type StoreDatabase, sql, together, word } from '../port/port.ts'
import { keptEntries } from '../shared/account-rows.ts'

/** In SQLite a trigger drops the oldest entries. */
const added = {
  begin: word('', 'WITH added AS ('),
  end: word('', ` RETURNING id) DELETE FROM audit USING added WHERE audit.id <= added.id - ${keptEntries}`),
} as const

/** Adds an entry to the audit table, of which the newest stay: failed logins must not fill a disk. */
export async function addEntry(db: StoreDatabase, entry: AuditEntry): Promise<void> {
  const { at, action, outcome, actor, actorName, target, targetName, address } = entry
  await db.run(
    sql`${added.begin}INSERT INTO audit (at, action, actor, actor_name, target, target_name, address, outcome)
        VALUES (${at}, ${action}, ${actor}, ${actorName}, ${target}, ${targetName}, ${address}, ${outcome})${added.end}`,
  )
}

/** Entries of the audit table, the newest first, and how many the query chooses in all. */
export function* listEntries(query: AuditQuery) {
  const where = auditCondition(query)
  const [entries, counted] = yield* together(
    rows<AuditRecord>(
      sql`SELECT at, actor, actor_name, action, target AS subject, target_name AS subject_name, address, outcome
          FROM audit WHERE ${where} ORDER BY at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}`,
    ),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM audit WHERE ${where}`),
  )
  return { entries, total: counted!.total }
}

/** The condition on the audit table that a query makes. */
export function auditCondition({ actor, action, since, until }: Omit<AuditQuery, 'limit' | 'offset'>): Statement {
  const conditions: Statement[] = []
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
  if (action !== undefined)
    // Of an area: what begins with its name and a dot, after which a slash is the next character.
    conditions.push(sql`(action = ${action} OR (action >= ${`${action}.`} AND action < ${`${action}/`}))`)
  if (since !== undefined) conditions.push(sql`at >= ${since}`)
  if (until !== undefined) conditions.push(sql`at <= ${until}`)
  return conditions.reduce((all, condition) => sql`${all} AND ${condition}`, sql`true`)
}

/** Drops what is older than that time, in milliseconds since 1970. */
export async function pruneEntries(db: StoreDatabase, before: number): Promise<void> {
  await db.run(sql`DELETE FROM audit WHERE at < ${before}`)
}
