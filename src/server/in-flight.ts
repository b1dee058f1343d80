import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import type { Limits } from '../settings/settings.ts'
import type { RequestContext } from './request-context.ts'

/** Bounds what the requests of one user hold at the same time. */
export interface InFlight {
  /**
   * Counts a request as this user's until its answer is out or its connection gone; one that is counted already is left as it
   * is. Throws `rate_limited` where the user has as many under way as there may be.
   */
  enter(context: Pick<RequestContext, 'request' | 'response'>, user: string): void
}

interface Held {
  requests: number
  bytes: number
}

/** Seconds after which one of so many requests has probably been answered. */
const retryAfter = 1

export function createInFlight({ requestsPerUser, bodyBytesPerUser }: Limits): InFlight {
  const users = new Map<string, Held>()
  return {
    enter({ request, response }, user) {
      if (chargers.has(request)) return
      const held = users.get(user) ?? { requests: 0, bytes: 0 }
      if (held.requests >= requestsPerUser)
        throw new AppError('rate_limited', `You may have ${requestsPerUser} requests under way at the same time`, {
          details: ['Try again when one of them is answered; limits.requests_per_user says how many there may be'],
          retryAfter,
        })
      users.set(user, held)
      held.requests++
      let bytes = 0
      chargers.set(request, (more) => {
        if (held.bytes + more > bodyBytesPerUser)
          throw new AppError('rate_limited', `Your requests under way may hold ${bodyBytesPerUser} bytes in all`, {
            details: ['Try again when one of them is answered; limits.body_bytes_per_user says how many there may be'],
            // A body that could never fit would be sent again and again.
            ...(more > bodyBytesPerUser ? { final: true } : { retryAfter }),
          })
        held.bytes += more
        bytes += more
      })
      response.once('close', () => {
        held.requests--
        held.bytes -= bytes
        bytes = 0
        if (held.requests === 0) users.delete(user)
      })
    },
  }
}

const chargers = new WeakMap<IncomingMessage, (bytes: number) => void>()

/**
 * Counts bytes of a body that are kept in memory against its user, where one is known. Throws `rate_limited` where they are
 * more than the user's requests may hold.
 */
export function chargeBody(request: IncomingMessage, bytes: number): void {
  chargers.get(request)?.(bytes)
}
