import { z } from 'zod'
import { costSources, type LedgerRow, outcomes, purposes } from './ledger.ts'

/** A user, key, plugin, model, tier or price. */
const name = z.string().min(1).max(1000)
const count = z.int().min(0)
const part = count.optional()

const row = z.object({
  request: name,
  /** In a 32-bit column. */
  attempt: count.max(2 ** 31 - 1),
  at: count,
  day: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  user: name,
  key: name.nullable(),
  plugin: name.nullable(),
  model: name,
  purpose: z.enum(purposes),
  outcome: z.enum(outcomes),
  estimated: z.boolean(),
  lowerBound: z.boolean(),
  amounts: z.object({
    ...{ input: count, cached: part, cacheWrite: part, cacheWriteLong: part, audioInput: part },
    ...{ output: count, reasoning: part, audioOutput: part, characters: part },
    ...{ serviceTier: name.optional(), speed: name.optional() },
  }),
  cost: z.object({ nano: count.nullable(), source: z.enum(costSources).nullable(), priceId: name.nullable() }),
  durationMs: count,
  firstMs: part,
  reason: name.optional(),
  reservation: name.optional(),
})

/** Whether a row read from a journal suits the ledger: a wrong one would keep its batch out forever. */
export function isJournalRow(value: unknown): value is LedgerRow {
  return row.safeParse(value).success
}
