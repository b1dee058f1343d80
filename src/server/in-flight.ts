import { AppError } from '../errors.ts'
import { counted } from '../formats/formats.ts'
import type { Limits } from '../settings/settings.ts'
import type { Identify, Identity } from './identity.ts'
import type { RequestContext } from './request-context.ts'
import { hold, userOf } from './request-holder.ts'

/** The requests of a user in flight, and the bytes of their bodies. */
interface Held {
  requests: number
  bytes: number
}

/** Users without a request that stay in the list. */
const mostIdle = 1000

/** Seconds after which one of the requests has probably been answered. */
const retryAfter = 1

/** Counts the request until its response closes. Throws `rate_limited` above `limits.requests_per_user`. */
export function limitInFlight(identify: Identify, limits: () => Limits): Identify {
  const users = new Map<string, Held>()
  return (context, rule) => {
    const identity = identify(context, rule)
    return identity instanceof Promise ? identity.then((known) => enter(context, known)) : enter(context, identity)
  }

  function enter({ request, response, record }: RequestContext, identity: Identity): Identity {
    const user = identity.caller?.id
    record.user = user
    if (user === undefined || userOf(request) !== undefined) return identity
    const { requestsPerUser, bodyBytesPerUser } = limits()
    const held = users.get(user) ?? { requests: 0, bytes: 0 }
    if (held.requests >= requestsPerUser)
      throw new AppError(
        'rate_limited',
        `You may have ${counted(requestsPerUser, 'request')} under way at the same time`,
        {
          details: ['Try again when one of them is answered; limits.requests_per_user says how many there may be'],
          retryAfter,
        },
      )
    users.set(user, held)
    held.requests++
    let bytes = 0
    const charge = (more: number) => {
      if (held.bytes + more > bodyBytesPerUser)
        throw new AppError('rate_limited', `Your requests under way may hold ${bodyBytesPerUser} bytes in all`, {
          details: ['Try again when one of them is answered; limits.body_bytes_per_user says how many there may be'],
          // A body above the limit never fits: no retry can help.
          ...(more > bodyBytesPerUser ? { final: true } : { retryAfter }),
        })
      held.bytes += more
      bytes += more
    }
    hold(request, { user, charge })
    response.on('close', () => {
      held.requests--
      held.bytes -= bytes
      bytes = 0
      // A map that a user joins and leaves with each request is made again all the time, see Bag.
      if (held.requests === 0 && users.size > mostIdle) users.delete(user)
    })
    return identity
  }
}
