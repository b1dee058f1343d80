import { readFileSync } from 'node:fs'
import { replaceFile } from './atomic.ts'

/** Opens a note in a file: a small text that is good to have after a restart. */
export function openNote(path: string) {
  return {
    /** Undefined where none can be read. */
    read(): string | undefined {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        return undefined
      }
    },
    /** Ignores a failing disk: the writes that matter report it. */
    write(text: string) {
      try {
        replaceFile(path, `${text}\n`)
      } catch {
        return
      }
    },
  }
}
