import type { IncomingMessage } from 'node:http'

/** The authenticated user of a request, charged with the memory that it takes. */
export interface Holder {
  /** The user's id. */
  readonly user: string
  /** Counts bytes in memory. Throws `rate_limited` above `limits.body_bytes_per_user`. */
  readonly charge: (bytes: number) => void
}

/** A property of its own: an entry in a WeakMap for each request costs the garbage collector more than the request it frees. */
const holder = Symbol('holder')

interface Held extends IncomingMessage {
  [holder]?: Holder
}

/** Notes the holder of a request until it is answered. */
export function hold(request: IncomingMessage, by: Holder): void {
  ;(request as Held)[holder] = by
}

/** The id of the request's user; undefined before authentication and where there is none. */
export function userOf(request: IncomingMessage): string | undefined {
  return (request as Held)[holder]?.user
}

/** Counts bytes of a body in memory for the request's user, if any. Throws as `charge`. */
export function chargeBody(request: IncomingMessage, bytes: number): void {
  ;(request as Held)[holder]?.charge(bytes)
}
