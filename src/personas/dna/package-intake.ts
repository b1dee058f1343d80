import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { ageIntro } from './age-file.ts'
import { parseStrictJson } from './canonical-json.ts'
import { createFile } from './file-writer.ts'
import { packageLimits } from './package-format.ts'

/** A folder for files that live as long as one request. */
export interface Scratch {
  /** A path in the folder that is not there yet. */
  path(): string
}

/** Files of a process that was killed are swept after this long: milliseconds. */
const leftoverAge = 24 * 3_600_000

/** Opens a scratch folder, which only its owner may enter; what was left in it long ago is removed. */
export function openScratch(folder: string, newId: () => string): Scratch {
  let isReady = false
  return {
    path() {
      if (!isReady) prepare(folder)
      isReady = true
      return join(folder, newId())
    },
  }
}

function prepare(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > leftoverAge)
      rmSync(path, { force: true })
  }
}

/** A package that arrived, in a file of its own. */
export interface ReceivedPackage {
  readonly path: string
  /** 0 when nothing was sent. */
  readonly bytes: number
  readonly passphrase: string | undefined
  discard(): void
}

/** The longest passphrase line: bytes. */
const longestLine = 4096

/**
 * Writes an arriving package to a file as it comes. An encrypted one may be preceded by one line of JSON,
 * `{"passphrase":"…"}`: in an address it would end up in logs. Throws `too_large` beyond what a package may have.
 */
export async function receivePackage(stream: AsyncIterable<Uint8Array>, scratch: Scratch): Promise<ReceivedPackage> {
  const path = scratch.path()
  const file = createFile(path)
  let passphrase: string | undefined
  let start: Buffer | undefined = Buffer.alloc(0)
  const write = (bytes: Uint8Array) => {
    file.write(bytes)
    if (file.size > packageLimits.bytes)
      throw new AppError('too_large', `A package may have ${packageLimits.bytes} bytes`)
  }
  const begin = (bytes: Buffer) => {
    start = undefined
    const split = splitPassphrase(bytes)
    passphrase = split.passphrase
    write(split.rest)
  }
  try {
    for await (const piece of stream) {
      if (!start) write(piece)
      else {
        start = Buffer.concat([start, piece])
        if (start.length > longestLine + ageIntro.length) begin(start)
      }
    }
    if (start) begin(start)
    file.close()
    return { path, bytes: file.size, passphrase, discard: () => rmSync(path, { force: true }) }
  } catch (reason) {
    file.discard()
    throw reason
  }
}

function splitPassphrase(bytes: Buffer): { readonly passphrase: string | undefined; readonly rest: Buffer } {
  const end = bytes.indexOf(0x0a)
  const isAge = end > 0 && bytes.toString('latin1', end + 1, end + 1 + ageIntro.length) === ageIntro
  if (!isAge || bytes[0] !== 0x7b) return { passphrase: undefined, rest: bytes }
  const line = parseStrictJson(bytes.toString('utf8', 0, end)) as { readonly passphrase?: unknown }
  if (typeof line.passphrase !== 'string')
    throw new AppError('invalid', 'The line before the age file has no passphrase')
  return { passphrase: line.passphrase, rest: bytes.subarray(end + 1) }
}
