import { closeSync, fstatSync, openSync } from 'node:fs'
import { type FileError, unsupported } from '../../formats/file-error.ts'
import { readSpan } from '../../formats/json-spans.ts'
import { isFirstVersion } from '../card/card.ts'

/** Detects files of other programs, so that they are refused by name instead of as damaged packages. */

const saveAnew = 'open it in a program that reads it and save it as a card of version 2 or 3 (PNG or JSON)'

/** The error for a foreign JSON file with these top-level names; undefined for any other. */
export function foreignJson(names: ReadonlyMap<string, unknown>): FileError | undefined {
  if (names.has('export_metadata')) return undefined
  if (isFirstVersion(names)) return unsupported(`This is a V1 character card, which is not read yet; ${saveAnew}`)
  // Letta's agent file, in its present form and its first one.
  if (
    ['agents', 'blocks'].every((name) => names.has(name)) ||
    ['agent_type', 'core_memory'].every((name) => names.has(name))
  )
    return unsupported(
      'This is a Letta agent file (.af), which is not read yet; store its memory blocks with `aichat persona memory add`',
    )
  return undefined
}

/** The kind of a JSON object that is no package, by its top-level names. */
export function jsonKindOf(names: ReadonlyMap<string, unknown>): string {
  if (['id', 'endpoint', 'auth'].every((name) => names.has(name)))
    return 'a plugin document, which `aichat plugin install` takes'
  return 'a JSON document without export_metadata'
}

/** The error for a CHARX zip (character card version 3), which holds `card.json`; undefined for any other. */
export function foreignZip(path: string): FileError | undefined {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const span = { start: Math.max(0, size - longestDirectory), end: size }
    const tail = readSpan(file, span, longestDirectory, 'The directory of the archive')
    for (let at = tail.indexOf(entryMark); at >= 0; at = tail.indexOf(entryMark, at + 1))
      if (
        at + 46 <= tail.length &&
        tail.toString('latin1', at + 46, at + 46 + tail.readUInt16LE(at + 28)) === 'card.json'
      )
        return unsupported(`This is a CHARX archive of a character card, which is not read yet; ${saveAnew}`)
    return undefined
  } finally {
    closeSync(file)
  }
}

/** Bytes at the end of a zip that are searched for its directory. */
const longestDirectory = 1024 ** 2

/** The signature of a directory entry (PKWARE APPNOTE 6.3.10, section 4.3.12); its name stands 46 bytes later. */
const entryMark = Buffer.from('PK\x01\x02', 'latin1')
