import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { AppError } from '../errors.ts'
import type { TlsFiles } from '../settings/settings.ts'

/** A certificate with its key, as the listeners take it. */
export interface TlsPair {
  readonly options: SecureContextOptions
  /** One sentence for each doubt: a key that others can read, a certificate that is not valid now. */
  readonly warnings: readonly string[]
}

/** The longest certificate or key file: bytes. */
const longestFile = 1024 * 1024

/**
 * Reads a certificate and its key; TLS 1.2 is the oldest version spoken (RFC 8996). Throws `configuration` with every problem
 * of the files, or where the key belongs to another certificate.
 */
export function readTls({ cert: certPath, key: keyPath }: TlsFiles, now = Date.now()): TlsPair {
  const problems: string[] = []
  const read = (path: string) => {
    try {
      if (statSync(path).size <= longestFile) return readFileSync(path)
      problems.push(`${path} is too long for a PEM file`)
    } catch (reason) {
      problems.push(`${path} cannot be read: ${(reason as NodeJS.ErrnoException).code}`)
    }
    return undefined
  }
  const [cert, key] = [read(certPath), read(keyPath)]
  const options = { cert, key, minVersion: 'TLSv1.2' as const }
  let certificate: X509Certificate | undefined
  if (cert && key)
    try {
      certificate = new X509Certificate(cert)
      createSecureContext(options)
    } catch (reason) {
      problems.push(
        (reason as NodeJS.ErrnoException).code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
          ? `${keyPath} is not the key of the certificate in ${certPath}`
          : `${certificate ? keyPath : certPath} holds no usable PEM ${certificate ? 'key, or the pair is refused' : 'certificate'}`,
      )
    }
  if (problems.length > 0 || !certificate)
    throw new AppError('configuration', 'The certificate cannot be used', { details: problems })
  return { options, warnings: [...keyWarnings(keyPath), ...timeWarnings(certificate, certPath, now)] }
}

/** Others must neither read nor change the key; a group such as ssl-cert may read it. */
function keyWarnings(path: string): readonly string[] {
  const open = process.platform !== 'win32' && (statSync(path).mode & 0o027) !== 0
  return open ? [`Others can read or change the key in ${path}: chmod 600 ${path}`] : []
}

function timeWarnings({ validFrom, validTo }: X509Certificate, path: string, now: number): readonly string[] {
  if (Date.parse(validTo) <= now) return [`The certificate in ${path} expired on ${validTo}`]
  if (Date.parse(validFrom) > now) return [`The certificate in ${path} is not valid before ${validFrom}`]
  return []
}
