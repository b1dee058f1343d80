import type { Scope } from '../../personas/memory/memory.ts'
import type { ProposalStore } from '../../personas/memory/proposal.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { type ProposalRow, proposalOf, visibleStatus } from '../shared/proposal-rows.ts'
import type { Database } from './connection.ts'
import { findScope } from './memories-scope.ts'

const status = visibleStatus('memory_proposal', '@now')

const select = `SELECT memory_proposal.id, memory_proposal.content, confidence, model, memory.id AS memory_id,
    ${status} AS status, accepted_as, created_at
  FROM memory_proposal JOIN memory USING (memory_id)`

const inScope = 'memory_proposal.memory_id BETWEEN @low AND @high'

/** Proposals in SQLite. */
export function createProposalStore(db: Database): ProposalStore {
  return {
    add: async (scope, proposals, most) => db.transaction(() => add(scope, proposals, most)).immediate(),
    async list(scope, { status: wanted, limit, offset, now }) {
      const range = rangeOfScope(scope)
      if (!range) return { proposals: [], total: 0 }
      const where = `${inScope} AND ${status} = @wanted`
      const proposals = db
        .prepare<[object], ProposalRow>(`${select} WHERE ${where} ORDER BY number DESC LIMIT @limit OFFSET @offset`)
        .all({ ...range, wanted, limit, offset, now })
      const total = db
        .prepare<[object], number>(`SELECT count(*) FROM memory_proposal WHERE ${where}`)
        .pluck()
        .get({ ...range, wanted, now })!
      return { proposals: proposals.map(proposalOf), total }
    },
    async find(scope, id, now) {
      const range = rangeOfScope(scope)
      const where = `${inScope} AND memory_proposal.id = @id`
      const row = range && db.prepare<[object], ProposalRow>(`${select} WHERE ${where}`).get({ ...range, id, now })
      return row && proposalOf(row)
    },
    claim: async (scope, id, now) => decide(scope, id, now, `status = 'claimed', claimed_at = @now`),
    async settle(scope, id, acceptedAs) {
      const range = rangeOfScope(scope)
      if (!range) return
      db.prepare(
        `UPDATE memory_proposal SET status = @status, accepted_as = @acceptedAs
          WHERE ${inScope} AND id = @id AND status = 'claimed'`,
      ).run({ ...range, id, status: acceptedAs === undefined ? 'open' : 'accepted', acceptedAs: acceptedAs ?? null })
    },
    reject: async (scope, id, now) => decide(scope, id, now, `status = 'rejected'`),
  }

  function rangeOfScope(scope: Scope) {
    const row = findScope(db, scope)
    return row && rangeOf(row.scope_id)
  }

  /** One statement, so that of two callers at once one decides. */
  function decide(scope: Scope, id: string, now: number, set: string): boolean {
    const range = rangeOfScope(scope)
    if (!range) return false
    const { changes } = db
      .prepare(`UPDATE memory_proposal SET ${set} WHERE ${inScope} AND id = @id AND ${status} = 'open'`)
      .run({ ...range, id, now })
    return changes > 0
  }

  function add(scope: Scope, proposals: Parameters<ProposalStore['add']>[1], most: number): readonly string[] {
    const row = findScope(db, scope)
    if (!row) return []
    const range = rangeOf(row.scope_id)
    const insert = db.prepare(
      `INSERT INTO memory_proposal (id, memory_id, content, folded, confidence, model, created_at, status)
         SELECT @id, memory_id, @content, @folded, @confidence, @model, @created_at, 'open' FROM memory
          WHERE scope_id = @scope_id AND id = @source AND NOT EXISTS
            (SELECT 1 FROM memory_proposal WHERE ${inScope} AND folded = @folded)`,
    )
    const added = proposals.filter(({ memory_id: source, ...proposal }) => {
      const folded = proposal.content.toLowerCase()
      return insert.run({ ...proposal, ...range, source, folded, scope_id: row.scope_id }).changes > 0
    })
    db.prepare(
      `DELETE FROM memory_proposal WHERE number IN (
         SELECT number FROM memory_proposal WHERE ${inScope}
          ORDER BY status IN ('open', 'claimed') DESC, number DESC LIMIT -1 OFFSET @most)`,
    ).run({ ...range, most })
    const isKept = db.prepare<[string], 1>('SELECT 1 FROM memory_proposal WHERE id = ?').pluck()
    return added.map(({ id }) => id).filter((id) => isKept.get(id) === 1)
  }
}
