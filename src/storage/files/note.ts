import { readFileSync } from 'node:fs'
import { replaceFile } from './atomic.ts'

/** A small text that is good to have after a restart. */
export type Note = ReturnType<typeof openNote>

/** Opens a note in a file. */
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
