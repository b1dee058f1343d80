import { readFileSync } from 'node:fs'
import { replaceFile } from './atomic.ts'

/** A small text that is good to have after a restart. */
export interface Note {
  /** Undefined where none can be read. */
  read(): string | undefined
  /** Ignores a failing disk: the writes that matter report it. */
  write(text: string): void
}

/** Opens a note in a file. */
export function openNote(path: string): Note {
  return {
    read() {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        return undefined
      }
    },
    write(text) {
      try {
        replaceFile(path, `${text}\n`)
      } catch {
        return
      }
    },
  }
}
