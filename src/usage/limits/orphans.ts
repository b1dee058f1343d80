import type { Days } from '../days.ts'
import type { LedgerRow } from '../ledger/ledger.ts'
import type { Orphan } from './store.ts'

/**
 * The ledger's row of an attempt that its process left unbooked at its end: all that was reserved counts as spent,
 * since the provider may have answered. The id of the reservation is that of its request, so that it is booked once.
 */
export function rowOfOrphan({ id, at, nano, user, key, plugin, model, input, output }: Orphan, days: Days): LedgerRow {
  return {
    request: id,
    attempt: 1,
    at,
    day: days.dayOf(at),
    user,
    key,
    plugin,
    model,
    purpose: 'chat',
    outcome: 'broken',
    estimated: true,
    lowerBound: false,
    amounts: { input, output },
    cost: { nano, source: null, priceId: null },
    durationMs: 0,
    reservation: id,
  }
}
