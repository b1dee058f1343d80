import type { ProposalStore } from '../../personas/memory/proposal.ts'
import type { Context } from './context.ts'

/** Proposals in PostgreSQL. */
export function createProposalStore(_context: Context): ProposalStore {
  throw new Error('Not written yet')
}
