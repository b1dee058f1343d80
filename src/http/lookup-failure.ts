/**
 * A failed look-up of a host name as a sentence for the user; undefined where the name was found or none was
 * looked up. Node's codes are those of getaddrinfo(3): ENOTFOUND for an unknown name, EAI_AGAIN while no name server
 * answers.
 */
export function lookupFailure(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const { code, hostname } = error as NodeJS.ErrnoException & { readonly hostname?: unknown }
    if (code !== 'ENOTFOUND' && code !== 'EAI_AGAIN') continue
    const name = typeof hostname === 'string' ? `host name ${hostname}` : 'host name'
    return code === 'ENOTFOUND'
      ? `the ${name} was not found: check how it is spelled, and the network with its DNS`
      : `the ${name} could not be looked up: check the network and its DNS`
  }
  return undefined
}
