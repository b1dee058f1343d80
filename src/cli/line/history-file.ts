import { appendFileSync, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { replaceFile } from '../../storage/storage.ts'
import { stripControls } from '../terminal/io.ts'

/** Characters that are kept of a file. */
const longest = 512 * 1024
/** Characters of a line; longer ones are not kept in the file. */
const longestLine = 32 * 1024

/**
 * Opens the file of this path, one line each as JSON, mode 0600. Each is appended in one write, so none is lost where two
 * terminals write; a file of more than twice the size that is kept is cut to its end here. Throws the error of the system,
 * and for what is no regular file, or belongs to another user.
 */
export function openHistoryFile(path: string) {
  makeFolder(dirname(path))
  const isThere = lstatSync(path, { throwIfNoEntry: false })
  if (isThere?.isFile() === false) throw new Error('it is no regular file')
  if (isThere && process.getuid && isThere.uid !== process.getuid()) throw new Error('it belongs to another user')
  const text = isThere ? readFileSync(path, 'utf8') : ''
  const stored = text.slice(-longest).split('\n')
  // The first line of an end is a part of one.
  if (text.length > longest) stored.shift()
  if (text.length > 2 * longest) replaceFile(path, stored.join('\n'))
  return {
    /** The oldest first. */
    lines: stored.flatMap(linesIn),
    append(line: string) {
      if (line.length > longestLine) return
      try {
        appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
      } catch {
        // A full disk: the lines stay in memory.
      }
    },
  }
}

/** The typed line that is stored, several of an earlier build; none where it is broken. */
function linesIn(stored: string): readonly string[] {
  if (!stored.startsWith('"')) return []
  try {
    const text: unknown = JSON.parse(stored)
    return typeof text === 'string' ? stripControls(text).split('\n').filter(Boolean) : []
  } catch {
    return []
  }
}
