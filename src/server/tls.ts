import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { AppError } from '../errors.ts'
import type { TlsFiles } from '../settings/settings.ts'

/** Reads a certificate and its key, for TLS 1.2 and later (RFC 8996). Throws `configuration` for a bad pair. */
export function readTls({ cert, key }: TlsFiles): SecureContextOptions {
  try {
    const pair: SecureContextOptions = { cert: readFileSync(cert), key: readFileSync(key), minVersion: 'TLSv1.2' }
    createSecureContext(pair)
    return pair
  } catch (cause) {
    throw new AppError(
      'configuration',
      `The certificate in ${cert} cannot be used with the key in ${key}: ${(cause as Error).message}`,
      { cause },
    )
  }
}
