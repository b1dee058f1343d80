import { claimMs, type Proposal, type ProposalStatus } from '../../personas/memory/proposal.ts'

/** A proposal as a store reads it. */
export interface ProposalRow {
  readonly id: string
  readonly content: string
  readonly confidence: number
  readonly model: string
  readonly memory_id: string
  readonly status: ProposalStatus
  readonly accepted_as: string | null
  readonly created_at: number
}

/**
 * SQL for the status as callers see it: a begun acceptance of a process that ended is open again. @param table the name or
 * alias of the table @param now the parameter with the time
 */
export function visibleStatus(table: string, now: string): string {
  return `CASE WHEN ${table}.status <> 'claimed' THEN ${table}.status
    WHEN ${table}.claimed_at < ${now} - ${claimMs} THEN 'open' ELSE 'accepted' END`
}

export function proposalOf({ accepted_as, ...row }: ProposalRow): Proposal {
  const { id, content, confidence, model, memory_id, status, created_at } = row
  const proposal = { id, content, confidence, model, memory_id, status, created_at }
  return accepted_as === null ? proposal : { ...proposal, accepted_as }
}
