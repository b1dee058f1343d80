import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The text of an API key: `aic_`, 32 random letters and digits (190 bits), and 6 more that are the CRC-32 of all before
 * them. Without a space, dot or dash in it a double click selects it whole; a misspelt one is refused without a look at the
 * database.
 */
const prefix = 'aic_'
const randomLength = 32
const sumLength = 6
const length = prefix.length + randomLength + sumLength

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = alphabet.length

/** The greatest multiple of 62 in a byte: a byte from here on would make the first letters likelier. */
const fair = 256 - (256 % base)

const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + sumLength}}$`)
const anywhere = new RegExp(`${prefix}[0-9A-Za-z]{${randomLength + sumLength}}(?![0-9A-Za-z])`, 'g')

/** Makes a key. `random` gives so many random bytes. */
export function makeKeyText(random: (count: number) => Uint8Array = randomBytes): string {
  let letters = ''
  while (letters.length < randomLength)
    for (const byte of random(randomLength)) {
      if (byte < fair && letters.length < randomLength) letters += alphabet[byte % base]
    }
  return withSum(`${prefix}${letters}`)
}

/** Whether a credential is meant as an API key: a login's token has dots, a key has none. */
export function isApiKey(credential: string): boolean {
  return !credential.includes('.') && credential.startsWith(prefix)
}

/** The fault in the text of a key; undefined for a text that may be one. Never asks the database. */
export function keyTextProblem(text: string): 'shape' | 'checksum' | undefined {
  if (text.length !== length || !shape.test(text)) return 'shape'
  return withSum(text.slice(0, -sumLength)) === text ? undefined : 'checksum'
}

/** The form in which a key is stored: SHA-256 in base64url. There is nothing to guess in 190 bits, so no slow hash is needed. */
export function digestOfKey(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** The part of a key that lists show. */
export function lastFour(text: string): string {
  return text.slice(-4)
}

/** A text without the keys in it, for messages and logs. */
export function withoutApiKeys(text: string): string {
  return text.includes(prefix) ? text.replace(anywhere, '[key]') : text
}

function withSum(text: string): string {
  let rest = crc32(text)
  let sum = ''
  for (let at = 0; at < sumLength; at++) {
    sum = alphabet[rest % base]! + sum
    rest = Math.floor(rest / base)
  }
  return text + sum
}
