/** A connection that could not be made, in words for the user. */
export interface ConnectionFailure {
  readonly problem: string
  readonly advice: string
  /** True where the host's name led to no address. */
  readonly isName: boolean
  /** True where the server's certificate is not trusted. */
  readonly isCertificate?: true
}

/**
 * The reason that a connection could not be made; undefined for other failures. Node's codes for names are those of
 * getaddrinfo(3), ENOTFOUND for an unknown name and EAI_AGAIN while no name server answers; the others are those of
 * connect(2), and undici's for a connection that took too long.
 */
export function connectionFailure(thrown: unknown): ConnectionFailure | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    // One attempt for each address of a name; they share their reason.
    const attempts: readonly Attempted[] = error instanceof AggregateError ? error.errors : [error]
    const found = (attempts[0] && explain(attempts[0], attempts)) ?? blockedPort(error)
    if (found) return found
  }
  return undefined
}

/** The same as one sentence. */
export function connectionSentence(thrown: unknown): string | undefined {
  const failure = connectionFailure(thrown)
  return failure && `${failure.problem}: ${failure.advice}`
}

interface Attempted extends NodeJS.ErrnoException {
  readonly hostname?: unknown
  readonly address?: unknown
  readonly port?: unknown
}

function explain({ code, syscall, hostname }: Attempted, all: readonly Attempted[]): ConnectionFailure | undefined {
  const name = typeof hostname === 'string' ? `the host name ${hostname}` : 'the host name'
  const place = all.flatMap(({ address, port }) => placeOf(address, port)).join(' or ') || 'its address'
  switch (code) {
    case 'ENOTFOUND':
      return {
        problem: `${name} was not found`,
        advice: 'check how it is spelled, and the network with its DNS',
        isName: true,
      }
    case 'EAI_AGAIN':
      return { problem: `${name} could not be looked up`, advice: 'check the network and its DNS', isName: true }
    case 'ECONNREFUSED':
      return {
        problem: `nothing listens on ${place} (connection refused)`,
        advice: 'start the service there, or correct its address',
        isName: false,
      }
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      // A connection that was made breaks with the same codes.
      if (syscall !== undefined && syscall !== 'connect') return undefined
      return {
        problem: `${place} cannot be reached (${code})`,
        advice: 'check the address, the network and its firewall',
        isName: false,
      }
    default:
      return code === undefined ? undefined : explainCertificate(code)
  }
}

/** Node's codes for certificates are those of X509_verify_cert_error_string(3). */
function explainCertificate(code: string): ConnectionFailure | undefined {
  const parts = { isName: false, isCertificate: true } as const
  if (/SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(code))
    return {
      ...parts,
      problem: `its certificate is signed by no authority that is known here (${code})`,
      advice: 'name the PEM file of its authority in NODE_EXTRA_CA_CERTS',
    }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return {
      ...parts,
      problem: `its certificate is not valid now (${code})`,
      advice: 'renew it there, or set the clock',
    }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { ...parts, problem: 'its certificate is for another name', advice: 'use a name that stands in it' }
  return undefined
}

/** Ports that `fetch` refuses by its standard (https://fetch.spec.whatwg.org/#port-blocking); it has no code for them. */
function blockedPort({ message }: Error): ConnectionFailure | undefined {
  if (message !== 'bad port') return undefined
  return { problem: 'its port is one that browsers and HTTP clients block', advice: 'use another port', isName: false }
}

function placeOf(address: unknown, port: unknown): readonly string[] {
  if (typeof address !== 'string') return []
  const host = address.includes(':') ? `[${address}]` : address
  return [typeof port === 'number' ? `${host}:${port}` : host]
}
