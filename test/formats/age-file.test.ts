// Some with --all only: many processes.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { decryptFile, encryptFile } from '../../src/formats/age-file.ts'
import { FileError } from '../../src/formats/file-error.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const sealing = suite('age files')

const folder = temporaryFolder()
const plain = join(folder, 'plain')
const passphrase = 'correct horse battery'
/** More than one chunk of the format, which is 64 KiB. */
const content = Buffer.from('0123456789abcdef'.repeat(10_000))
writeFileSync(plain, content)
let count = 0
const fresh = () => join(folder, `file-${count++}`)

const sealed = fresh()
await encryptFile(plain, sealed, passphrase, 8)

async function opens(bytes: Buffer, using = passphrase): Promise<FileError | Buffer> {
  const [from, to] = [fresh(), fresh()]
  writeFileSync(from, bytes)
  try {
    await decryptFile(from, to, using)
    return readFileSync(to)
  } catch (reason) {
    assert.instance(reason, FileError)
    assert.not(existsSync(to), 'half a file was left')
    return reason as FileError
  }
}

sealing.whole('open with their passphrase', async () => {
  assert.ok(content.equals((await opens(readFileSync(sealed))) as Buffer))
})

const bytes = readFileSync(sealed)
const header = bytes.indexOf('\n---') + 1
const changes: readonly (readonly [name: string, change: () => Buffer, using?: string])[] = [
  ['another passphrase', () => bytes, 'correct horse batterz'],
  ['an empty passphrase', () => bytes, ''],
  ['a flipped bit in the header', () => flipped(header - 10)],
  ['a flipped bit in the sum of the header', () => flipped(header + 10)],
  ['a flipped bit at the beginning of the body', () => flipped(header + 70)],
  ['a flipped bit at the end of the body', () => flipped(bytes.length - 1)],
  ['the last bytes gone', () => bytes.subarray(0, -16)],
  ['a whole chunk gone', () => bytes.subarray(0, -65_552)],
  ['something added', () => Buffer.concat([bytes, Buffer.of(0)])],
]

for (const [name, change, using] of isWholeRun ? changes : changes.slice(0, 1))
  sealing(`do not open with ${name}`, async () => {
    const outcome = await opens(change(), using)
    assert.instance(outcome, FileError)
    assert.is((outcome as FileError).kind, 'not_authenticated')
  })

sealing('are refused at once when they ask for too much work, or are sealed for a key', async () => {
  const withStanza = (stanza: string) => Buffer.from(`age-encryption.org/v1\n-> ${stanza}\nAAAA\n--- AAAA\n`)
  const salt = 'A'.repeat(22)
  const cases: readonly (readonly [stanza: string, kind: string, message: RegExp])[] = [
    [`scrypt ${salt} 23`, 'unsupported', /work factor of 23/],
    [`scrypt ${salt} 99999999999999999999`, 'unsupported', /work factor of 9999999999/],
    [`scrypt ${salt} 018`, 'damaged', /header/],
    [`scrypt ${salt} -1`, 'damaged', /header/],
    [`scrypt ${salt.slice(1)} 8`, 'damaged', /header/],
    ['X25519 abc', 'unsupported', /for a key/],
  ]
  for (const [stanza, kind, message] of cases) {
    const outcome = (await opens(withStanza(stanza))) as FileError
    assert.is(outcome.kind, kind, stanza)
    assert.match(outcome.message, message)
  }
})

sealing('leave nothing behind', () => rmSync(folder, { recursive: true, force: true }))

function flipped(at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = copy[at]! ^ 1
  return copy
}

sealing.run()
