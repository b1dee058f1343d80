import { closeSync, openSync, readSync } from 'node:fs'

/** How every age file begins (https://age-encryption.org/v1). */
export const ageIntro = 'age-encryption.org/v1\n'

/** How an age file in letters begins. */
const ageArmor = '-----BEGIN AGE ENCRYPTED FILE-----'

/** The kind of a file, by its first bytes. */
export type FileKind = 'json' | 'zip' | 'age' | 'armored' | 'png' | 'unknown'

const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** Looks at the first bytes; the name and the declared type are ignored. */
export function fileKindOf(path: string): FileKind {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(256)
    const start = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
    if (start.subarray(0, pngSignature.length).equals(pngSignature)) return 'png'
    const text = start.toString('latin1')
    if (text.startsWith(ageIntro)) return 'age'
    if (text.startsWith(ageArmor)) return 'armored'
    if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'zip'
    return /^[\t\n\r ]*\{/.test(text) ? 'json' : 'unknown'
  } finally {
    closeSync(file)
  }
}
