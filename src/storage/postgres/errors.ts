import { AppError } from '../../errors.ts'

/** Seconds after which a database that was away may be asked again. */
const retryAfter = 2

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) of a server that goes away or is not ready. */
const away = /^(?:08|57P0[1-5]|25006|53300)/

/** Codes of sockets and of names that are not resolved, and those of the driver for a connection that ended. */
const offline =
  /^(?:ECONN|EPIPE$|ENOTFOUND$|EAI_AGAIN$|EHOSTUNREACH$|ENETUNREACH$|ENETDOWN$|ETIMEDOUT$|EADDRNOTAVAIL$|ENOENT$)/

/**
 * PgBouncer's words for a login or a database that it refuses, or the server behind it: it has one SQLSTATE, protocol_violation,
 * for these and for a server that is away (https://github.com/pgbouncer/pgbouncer/blob/master/src/client.c, src/server.c).
 */
const refusedByPooler =
  /authentication failed|no such (?:user|database)|(?:role|database|user) .{0,200} does not exist|password (?:required|missing)|not allowed|permission denied/i

/** Whether a pooler refuses the login: that ends by no waiting. */
function isRefusedByPooler(thrown: unknown): boolean {
  return codeOf(thrown) === '08P01' && refusedByPooler.test(String((thrown as Error).message))
}

/** The SQLSTATE or system code of a failure; an empty text for none. */
export function codeOf(thrown: unknown): string {
  return String((thrown as { code?: unknown } | null)?.code ?? '')
}

/** Whether a failure means that the database cannot be reached, or not be written at this server. */
export function isAway(thrown: unknown): boolean {
  if (thrown instanceof AppError) return false
  const code = codeOf(thrown)
  if (isRefusedByPooler(thrown)) return false
  if (away.test(code) || offline.test(code)) return true
  return (
    thrown instanceof Error &&
    /^(?:Connection terminated|timeout expired|Query read timeout|Client (?:was closed|has encountered))/.test(
      thrown.message,
    )
  )
}

/** Whether the server asks for another attempt of the whole transaction. */
export function isSerialisationFailure(thrown: unknown): boolean {
  return /^40(?:001|P01)$/.test(codeOf(thrown))
}

/** Whether a row was refused because another transaction has just removed the one that it belongs to (foreign_key_violation). */
export function isLeftAlone(thrown: unknown): boolean {
  return codeOf(thrown) === '23503'
}

/** A failure of PostgreSQL or of its driver as an AppError that names the remedy; any other value comes back as it is. */
export function translated(thrown: unknown): unknown {
  if (thrown instanceof AppError) return thrown
  const code = codeOf(thrown)
  if (code === '25006')
    return new AppError('unavailable', 'The database takes no writes now', { cause: thrown, retryAfter })
  if (isAway(thrown)) return unreachable(thrown)
  const refused = refusedLogin(thrown)
  if (refused) return refused
  if (!/^[0-9A-Z]{5}$/.test(code)) return thrown
  if (isSerialisationFailure(thrown) || code === '55P03')
    return new AppError('busy', 'The database is busy with another write', { cause: thrown, retryAfter: 1 })
  if (code === '57014') return new AppError('busy', 'The database took too long', { cause: thrown, retryAfter: 5 })
  if (code === '53100') return new AppError('io', "The database's disk is full", { cause: thrown, retryAfter: 30 })
  if (code.startsWith('53'))
    return new AppError('busy', 'The database is out of resources', { cause: thrown, retryAfter: 5 })
  if (code.startsWith('58'))
    return new AppError('io', "The database's disk could not be read or written", { cause: thrown, retryAfter: 30 })
  if (/^(?:28|3D|3F|42501|0P)/.test(code) || isRefusedByPooler(thrown))
    return new AppError('configuration', 'The database refuses this installation', {
      // Users of a running service see this: the server's words on a login name its role, address and database.
      details: [
        ...(/^(?:3F|42501|0P)/.test(code) ? [(thrown as Error).message] : []),
        'Check DATABASE_URL, and the rights of its role',
      ],
      cause: thrown,
    })
  if (code.startsWith('XX'))
    return new AppError('configuration', 'The database is damaged', {
      details: [(thrown as Error).message, 'Restore it from a backup'],
      cause: thrown,
    })
  // Tables and columns that no migration has made, where nothing may be changed.
  if (/^42(?:P01|703)$/.test(code))
    return new AppError('configuration', 'The database lacks tables of this version of aichat', {
      details: ['A service or command that may write makes them at its start'],
      cause: thrown,
    })
  return new AppError('internal', 'Internal server error', { cause: thrown })
}

/** A failure of the driver before the server has judged the login: of TLS, or a password that is not there. */
function refusedLogin(thrown: unknown): AppError | undefined {
  const message = thrown instanceof Error ? thrown.message : ''
  if (/^SASL: .*password must be/.test(message))
    return new AppError('configuration', 'The database asks for a password, and DATABASE_URL has none', {
      details: ['Write it as postgres://USER:PASSWORD@HOST:PORT/NAME'],
      cause: thrown,
    })
  if (/CERT|_TLS_|^ERR_SSL/.test(codeOf(thrown)) || /does not support SSL/.test(message))
    return new AppError('configuration', 'The database cannot be reached over TLS', {
      details: [message, 'Check sslmode and sslrootcert in DATABASE_URL'],
      cause: thrown,
    })
  return undefined
}

/** A failure as `translated` gives it, with the server's own words where they are for the operator alone. */
export function operatorFailure(thrown: unknown): unknown {
  const reason = translated(thrown)
  if (!(reason instanceof AppError) || reason.code !== 'configuration' || !(reason.cause instanceof Error))
    return reason
  const { code, message, details, cause } = reason
  return new AppError(code, message, { details: [...new Set([reason.cause.message, ...details])], cause })
}

/** The failure of a start without the database, for its operator. */
export function startFailure(thrown: unknown, name: string): unknown {
  const reason = operatorFailure(thrown)
  if (!(reason instanceof AppError) || reason.code !== 'unavailable') return reason
  const { message, retryAfter } = reason
  const cause = thrown instanceof AppError ? thrown.cause : thrown
  return new AppError('unavailable', message, {
    details: [`${name}: ${causeOf(cause)}`, 'Check DATABASE_URL, and that the server runs'],
    cause,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** A host with several addresses fails with one error for each of them, and no message of its own. */
function causeOf(cause: unknown): string {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}

function unreachable(cause: unknown): AppError {
  return new AppError('unavailable', 'The database cannot be reached', { cause, retryAfter })
}

/** The store with methods that fail with AppErrors instead of PostgreSQL's. */
export function translating<S extends object>(store: S): S {
  const methods = Object.entries(store as Record<string, (...given: unknown[]) => unknown>)
  return Object.fromEntries(methods.map(([name, method]) => [name, withAppErrors(method)])) as S
}

function withAppErrors(method: (...given: unknown[]) => unknown): (...given: unknown[]) => unknown {
  const failed = (reason: unknown): never => {
    throw translated(reason)
  }
  return (...given) => {
    try {
      const result = method(...given)
      return result instanceof Promise ? result.catch(failed) : result
    } catch (reason) {
      return failed(reason)
    }
  }
}
