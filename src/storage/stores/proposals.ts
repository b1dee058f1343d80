import {
  claimMs,
  type NewProposal,
  type Proposal,
  type ProposalStatus,
  type ProposalStore,
  type Scope,
} from '../../personas/personas.ts'
import {
  among,
  forUpdate,
  row,
  rows,
  run,
  type Statement,
  type StoreDatabase,
  sql,
  tableOf,
  together,
  unlimited,
  type Work,
} from '../port/port.ts'
import { width } from '../shared/memory-scope.ts'

interface ProposalRow extends Omit<Proposal, 'accepted_as'> {
  readonly accepted_as: string | null
}

/** Proposals of what a persona could remember. */
export function createProposalStore(db: StoreDatabase): ProposalStore {
  /** One statement, so that of two callers at once one decides: the second sees the row as the first one left it. */
  const decide = async (scope: Scope, id: string, now: number, change: Statement) =>
    (await db.run(
      sql`UPDATE memory_proposal AS p SET ${change} WHERE p.id = ${id} AND ${statusAt(now)} = 'open'
            AND ${isOf(scope)}`,
    )) > 0
  return {
    add: (scope, proposals, most) => db.write(() => add(scope, proposals, most)),
    list: async (scope, options) => db.read(list(scope, options)),
    find: async (scope, id, now) => db.read(find(scope, id, now)),
    claim: (scope, id, now) => decide(scope, id, now, sql`status = 'claimed', claimed_at = ${now}`),
    async settle(scope, id, acceptedAs) {
      await db.run(
        sql`UPDATE memory_proposal AS p SET status = ${acceptedAs === undefined ? 'open' : 'accepted'},
              accepted_as = ${acceptedAs} WHERE p.id = ${id} AND p.status = 'claimed' AND ${isOf(scope)}`,
      )
    },
    reject: (scope, id, now) => decide(scope, id, now, sql`status = 'rejected'`),
  }
}

/** The condition on a proposal `p` to be of a scope: its memory's number is in the scope's range. */
function isOf({ personaId, userId }: Scope): Statement {
  const low = sql`(SELECT CAST(scope_id AS bigint) * ${width} FROM memory_scope
    WHERE persona_id = ${personaId} AND user_id = ${userId})`
  return sql`p.memory_id BETWEEN ${low} AND ${low} + ${width - 1}`
}

/** The status of a proposal `p` as callers see it: a begun acceptance of a process that ended is open again. */
function statusAt(now: number): Statement {
  return sql`CASE WHEN p.status <> 'claimed' THEN p.status
    WHEN p.claimed_at < ${now - claimMs} THEN 'open' ELSE 'accepted' END`
}

function selected(now: number, where: Statement, more: Statement): Work<ProposalRow[]> {
  return rows(
    sql`SELECT p.id, p.content, p.confidence, p.model, m.id AS memory_id, ${statusAt(now)} AS status, p.accepted_as,
          p.created_at FROM memory_proposal p JOIN memory m USING (memory_id) WHERE ${where} ${more}`,
  )
}

interface ListOptions {
  readonly status: ProposalStatus
  readonly limit: number
  readonly offset: number
  readonly now: number
}

function* list(scope: Scope, { status, limit, offset, now }: ListOptions) {
  const isWanted = sql`${isOf(scope)} AND ${statusAt(now)} = ${status}`
  const [found, counted] = yield* together(
    selected(now, isWanted, sql`ORDER BY p.number DESC LIMIT ${limit} OFFSET ${offset}`),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM memory_proposal p WHERE ${isWanted}`),
  )
  return { proposals: found.map(proposalOf), total: counted!.total }
}

function* find(scope: Scope, id: string, now: number): Work<Proposal | undefined> {
  const [found] = yield* selected(now, sql`p.id = ${id}`, sql`AND ${isOf(scope)}`)
  return found && proposalOf(found)
}

function* add(scope: Scope, proposals: readonly NewProposal[], most: number): Work<readonly string[]> {
  const own = yield* row<{ scope_id: number }>(
    sql`SELECT scope_id FROM memory_scope WHERE persona_id = ${scope.personaId} AND user_id = ${scope.userId}
        ${forUpdate}`,
  )
  if (!own || proposals.length === 0) return []
  const ids = proposals.map(({ id }) => id)
  const [added, , kept] = yield* together(
    insert(own.scope_id, scope, proposals),
    run(
      sql`DELETE FROM memory_proposal WHERE number IN (SELECT p.number FROM memory_proposal p WHERE ${isOf(scope)}
            ORDER BY p.status IN ('open', 'claimed') DESC, p.number DESC ${unlimited} OFFSET ${most})`,
    ),
    rows<{ id: string }>(sql`SELECT id FROM memory_proposal WHERE id ${among(ids)}`),
  )
  const [isAdded, isKept] = [added, kept].map((found) => new Set(found.map(({ id }) => id)))
  return ids.filter((id) => isAdded!.has(id) && isKept!.has(id))
}

/** Adds those with a source and a text that is not known yet; of several with one text the first. */
function insert(scopeId: number, scope: Scope, proposals: readonly NewProposal[]): Work<{ id: string }[]> {
  const given = tableOf(
    {
      place: 'integer',
      id: 'text',
      source: 'text',
      content: 'text',
      folded: 'text',
      confidence: 'real',
      model: 'text',
      created_at: 'integer',
    },
    proposals.map(({ id, memory_id, content, confidence, model, created_at }, place) => [
      ...[place, id, memory_id, content, content.toLowerCase()],
      ...[confidence, model, created_at],
    ]),
  )
  return rows(
    sql`INSERT INTO memory_proposal (id, memory_id, content, folded, confidence, model, created_at, status)
        SELECT id, memory_id, content, folded, confidence, model, created_at, 'open' FROM (
          SELECT t.*, m.memory_id, row_number() OVER (PARTITION BY t.folded ORDER BY t.place) AS turn
          FROM ${given} AS t JOIN memory m ON m.scope_id = ${scopeId} AND m.id = t.source
          WHERE t.folded NOT IN (SELECT p.folded FROM memory_proposal p WHERE ${isOf(scope)})) AS fresh
        WHERE turn = 1 ORDER BY place RETURNING id`,
  )
}

function proposalOf({ accepted_as, ...proposal }: ProposalRow): Proposal {
  return accepted_as === null ? proposal : { ...proposal, accepted_as }
}
