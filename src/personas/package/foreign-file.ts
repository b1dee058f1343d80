import { type FileError, foreignShape, openZip, unsupported } from '../../formats/formats.ts'
import { isAgentFile, isJsonLines } from '../arrival/detect.ts'
import { isFirstVersion } from '../card/first-version.ts'

/** Tells files of other programs from damaged packages: they are imported, and have nothing to be verified by. */

function withoutChecksum(what: string): FileError {
  return unsupported(`The file is ${what}, which has no checksum`)
}

/** The error for a foreign JSON file with these top-level names; undefined for any other. */
export function foreignJson(names: ReadonlyMap<string, unknown>): FileError | undefined {
  if (names.has('export_metadata')) return undefined
  if (names.has('spec') || isFirstVersion(names)) return withoutChecksum('a character card')
  return isAgentFile(names) ? withoutChecksum('a Letta agent file') : undefined
}

/** The kind of a JSON object that is no package, by its top-level names. */
export function jsonKindOf(names: ReadonlyMap<string, unknown>): string {
  if (['id', 'endpoint', 'auth'].every((name) => names.has(name)))
    return 'a plugin document, which `aichat plugin install` takes'
  return 'a JSON document without export_metadata'
}

/** The error for a file of memories, one JSON object a line; undefined for any other. */
export function foreignLines(path: string): FileError | undefined {
  return isJsonLines(path) ? withoutChecksum('a list of memories as JSON lines') : undefined
}

/** The error for an archive of another program; undefined for any other. Throws as `openZip` does. */
export function foreignZip(path: string): FileError | undefined {
  const zip = openZip(path, foreignShape)
  zip.close()
  const isExport = [...zip.members.keys()].some((name) =>
    /(?:^|\/)(?:conversations(?:-\d+)?|memories|projects)\.json$/.test(name),
  )
  return isExport ? withoutChecksum('an export of conversations') : undefined
}
