import type { IncomingMessage } from 'node:http'

/** The authenticated user of a request, charged with the memory that it takes. */
export interface Holder {
  /** The user's id. */
  readonly user: string
  /** Counts bytes in memory. Throws `rate_limited` above `limits.body_bytes_per_user`. */
  readonly charge: (bytes: number) => void
}

const holders = new WeakMap<IncomingMessage, Holder>()

/** Notes the holder of a request until it is answered. */
export function hold(request: IncomingMessage, holder: Holder): void {
  holders.set(request, holder)
}

/** The id of the request's user; undefined before authentication and where there is none. */
export function userOf(request: IncomingMessage): string | undefined {
  return holders.get(request)?.user
}

/** Counts bytes of a body in memory for the request's user, if any. Throws as `charge`. */
export function chargeBody(request: IncomingMessage, bytes: number): void {
  holders.get(request)?.charge(bytes)
}
