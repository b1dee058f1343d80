import type { App } from '../app/app.ts'
import {
  type MeteredAttempt,
  type MeteredPlace,
  type MeteredRequest,
  PlaceRefused,
  type Purpose,
  type RequestWatch,
} from '../chat/chat.ts'
import { toAppError } from '../errors.ts'
import type { Caller } from './operation.ts'

/** The account that a caller's requests are booked to. */
function payerOf({ id, key }: Caller): { readonly user: string; readonly key?: string | undefined } {
  return { user: id, key: key?.id }
}

/** A request that has one place to be answered, without a fallback. */
export interface SingleRequest<T> {
  readonly caller: Caller
  readonly purpose: Purpose
  readonly place: MeteredPlace
  readonly request: () => MeteredRequest
  readonly signal?: AbortSignal | undefined
  readonly watch?: RequestWatch | undefined
  /** Asks the place, and reports its counts to the attempt. */
  run(attempt: MeteredAttempt): Promise<T>
}

/** Runs a request within the limits and books it: as answered, or as failed or cancelled when it throws. */
export async function metered<T>(
  app: App,
  { caller, purpose, place, request, signal, watch: given, run }: SingleRequest<T>,
): Promise<T> {
  const facts = { user: caller.id, key: caller.key?.id, purpose, model: place.model }
  const watch = app.requests.follow(given, facts)
  const { metering } = await app.usage()
  const call = metering.begin(payerOf(caller), purpose, request)
  try {
    const attempt = await call.attempt(place)
    const runner = place.plugin === null ? purpose : null
    const tell = (outcome: 'answered' | 'failed') => watch.attempted({ ...place, runner: purpose, tries: 1, outcome })
    watch.asks?.({ ...place, runner })
    try {
      const result = await run(attempt)
      const cost = attempt.ended('answered')
      tell('answered')
      watch.ended?.('answered', { cost })
      return result
    } catch (reason) {
      attempt.ended(signal?.aborted ? 'cancelled' : 'failed', toAppError(reason).code)
      tell('failed')
      throw reason
    }
  } catch (thrown) {
    const reason = thrown instanceof PlaceRefused ? thrown.reason : thrown
    watch.ended?.(signal?.aborted ? 'cancelled' : 'failed', { reason })
    throw reason
  } finally {
    call.end()
  }
}
