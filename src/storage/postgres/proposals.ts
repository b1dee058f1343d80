import type { Scope } from '../../personas/memory/memory.ts'
import type { NewProposal, ProposalStore } from '../../personas/memory/proposal.ts'
import { type ProposalRow, proposalOf, visibleStatus } from '../shared/proposal-rows.ts'
import type { Context } from './context.ts'
import { insertRows } from './insert-rows.ts'
import { isScope, lockScope, valuesOfScope } from './memories-scope.ts'
import type { Transaction } from './sql.ts'

const status = visibleStatus('p', '$3::bigint')

const select = `SELECT p.id, p.content, p.confidence, p.model, m.id AS memory_id, ${status} AS status, p.accepted_as,
    p.created_at`

/** The proposals of a scope: those taken from its memories. */
const ofScope = `FROM memory_scope JOIN memory m USING (scope_id) JOIN memory_proposal p USING (memory_id) WHERE ${isScope}`

/** Proposals in PostgreSQL. */
export function createProposalStore({ db }: Context): ProposalStore {
  return {
    add: (scope, proposals, most) => db.transaction((tx) => add(tx, scope, proposals, most)),
    async list(scope, { status: wanted, limit, offset, now }) {
      const rows = await db.rows<{ total: number } & (ProposalRow | { id: null })>(
        `WITH wanted AS MATERIALIZED (${select}, p.number ${ofScope} AND ${status} = $4)
         SELECT (SELECT count(*) FROM wanted) AS total, page.* FROM (VALUES (1)) one
           LEFT JOIN (SELECT * FROM wanted ORDER BY number DESC LIMIT $5 OFFSET $6) page ON true ORDER BY number DESC`,
        [...valuesOfScope(scope), now, wanted, limit, offset],
      )
      return {
        proposals: rows.flatMap((row) => (row.id === null ? [] : [proposalOf(row)])),
        total: rows[0]!.total,
      }
    },
    async find(scope, id, now) {
      const row = await db.row<ProposalRow>(`${select} ${ofScope} AND p.id = $4`, [...valuesOfScope(scope), now, id])
      return row && proposalOf(row)
    },
    claim: (scope, id, now) => decide(scope, id, now, `status = 'claimed', claimed_at = $3`),
    async settle(scope, id, acceptedAs) {
      await db.run(
        `UPDATE memory_proposal SET status = $4, accepted_as = $5 WHERE id = $3 AND status = 'claimed'
           AND memory_id IN (SELECT memory_id FROM memory_scope JOIN memory USING (scope_id) WHERE ${isScope})`,
        [...valuesOfScope(scope), id, acceptedAs === undefined ? 'open' : 'accepted', acceptedAs ?? null],
      )
    },
    reject: (scope, id, now) => decide(scope, id, now, `status = 'rejected'`),
  }

  /** One statement, so that of two callers at once one decides: the second sees the row as the first one left it. */
  async function decide(scope: Scope, id: string, now: number, set: string): Promise<boolean> {
    const changes = await db.run(
      `UPDATE memory_proposal p SET ${set} WHERE p.id = $4 AND ${status} = 'open'
         AND memory_id IN (SELECT memory_id FROM memory_scope JOIN memory USING (scope_id) WHERE ${isScope})`,
      [...valuesOfScope(scope), now, id],
    )
    return changes > 0
  }
}

async function add(
  tx: Transaction,
  scope: Scope,
  proposals: readonly NewProposal[],
  most: number,
): Promise<readonly string[]> {
  const row = await lockScope(tx, scope)
  if (!row || proposals.length === 0) return []
  const folded = proposals.map(({ content }) => content.toLowerCase())
  const [sources, texts] = await Promise.all([
    tx.rows<{ id: string; memory_id: number }>(
      'SELECT id, memory_id FROM memory WHERE scope_id = $1 AND id = ANY ($2)',
      [row.scope_id, proposals.map(({ memory_id }) => memory_id)],
    ),
    tx.rows<{ folded: string }>(`SELECT folded ${ofScope} AND folded = ANY ($3)`, [...valuesOfScope(scope), folded]),
  ])
  const numbers = new Map(sources.map(({ id, memory_id }) => [id, memory_id]))
  const known = new Set(texts.map((text) => text.folded))
  const fresh = proposals.filter(({ memory_id }, at) => {
    if (known.has(folded[at]!) || !numbers.has(memory_id)) return false
    known.add(folded[at]!)
    return true
  })
  await insertRows(
    tx,
    'memory_proposal',
    {
      id: 'text',
      memory_id: 'bigint',
      content: 'text',
      folded: 'text',
      confidence: 'double precision',
      model: 'text',
      created_at: 'bigint',
      status: 'text',
    },
    fresh.map((proposal) => ({
      ...proposal,
      memory_id: numbers.get(proposal.memory_id)!,
      folded: proposal.content.toLowerCase(),
      status: 'open',
    })),
  )
  await tx.run(
    `DELETE FROM memory_proposal WHERE number IN (SELECT number ${ofScope}
       ORDER BY p.status IN ('open', 'claimed') DESC, number DESC OFFSET $3)`,
    [...valuesOfScope(scope), most],
  )
  const ids = fresh.map(({ id }) => id)
  const kept = await tx.rows<{ id: string }>('SELECT id FROM memory_proposal WHERE id = ANY ($1)', [ids])
  const isKept = new Set(kept.map(({ id }) => id))
  return ids.filter((id) => isKept.has(id))
}
