import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { ageIntro } from './age-file.ts'
import { parseStrictJson } from './canonical-json.ts'
import { createFile } from './file-writer.ts'
import { holder, isHeld } from './holders.ts'
import { packageLimits } from './package-format.ts'

/** A folder for files that live as long as one request. */
export interface Scratch {
  /** A path in the folder that is not there yet. */
  path(): string
  /** Notes a folder elsewhere that lives as long, so that it is removed too when this process is killed. */
  note(folder: string): { forget(): void }
}

/**
 * Opens a scratch folder, which only its owner may enter. What a process that was killed left in it is removed at once: it
 * is the plain text of what somebody said. What a process that runs is at is left to it.
 */
export function openScratch(folder: string, newId: () => string): Scratch {
  sweepScratch(folder)
  const path = (ending = '') => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return join(folder, `${holder()}.${newId()}${ending}`)
  }
  return {
    path: () => path(),
    note(noted) {
      const file = path(noteEnding)
      writeFileSync(file, noted, { mode: 0o600 })
      return { forget: () => rmSync(file, { force: true }) }
    },
  }
}

const noteEnding = '.note'

/** How a folder is named that may be noted: nothing else is removed, whatever a note says. */
export const notedFolder = '.aichat-export-'

/** Removes what processes left that run no more. */
export function sweepScratch(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (isHeld(name)) continue
    const path = join(folder, name)
    if (name.endsWith(noteEnding)) removeNoted(path)
    rmSync(path, { recursive: true, force: true })
  }
}

function removeNoted(note: string): void {
  const folder = readFileSync(note, 'utf8')
  if (isAbsolute(folder) && basename(folder).startsWith(notedFolder)) rmSync(folder, { recursive: true, force: true })
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
    file.close({ flush: false })
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
