import { closeSync, openSync, readSync } from 'node:fs'
import { isFields } from '../fields.ts'

/** Tells files of other programs apart by the names of their fields. Loads little, since each package is looked at, too. */

interface Names {
  has(name: string): boolean
}

/** Whether an object with these field names is an agent file of Letta, in its present form or its first one. */
export function isAgentFile(names: Names): boolean {
  return (
    ['agents', 'blocks'].every((name) => names.has(name)) ||
    ['agent_type', 'core_memory'].every((name) => names.has(name))
  )
}

/** Bytes of the longest JSON line: 20,000 characters of content and 10,000 of metadata, each as an escape of six bytes. */
export const longestLine = 256 * 1024

/** Whether a file that begins with `{` holds one JSON object a line: several of them, or one memory. */
export function isJsonLines(path: string): boolean {
  const file = openSync(path, 'r')
  let start: string
  try {
    const bytes = Buffer.alloc(longestLine)
    start = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString('utf8')
  } finally {
    closeSync(file)
  }
  const [first = '', second = ''] = start
    .replace(/^\ufeff/, '')
    .trimStart()
    .split('\n', 2)
  if (!first.trimEnd().endsWith('}')) return false
  if (/^\s*\{\s*"/.test(second)) return true
  try {
    const value: unknown = JSON.parse(first)
    return isFields(value) && 'content' in value && !('spec' in value)
  } catch {
    return false
  }
}
