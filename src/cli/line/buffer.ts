import { createInterface, type Key } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { afterGrapheme, beforeGrapheme } from './graphemes.ts'

/** A text that is being edited. */
export interface Buffer {
  readonly text: string
  readonly cursor: number
  /** Replaces the text; the cursor stands at its end unless told otherwise. */
  set(text: string, cursor?: number): void
  insert(text: string): void
  /** Inserts a text as if it was typed, so that it can be undone. */
  type(text: string): void
  move(cursor: number): void
  /** Whole characters, as they are seen. */
  left(): void
  right(): void
  deleteLeft(): void
  deleteRight(): void
  /** The beginning and the end of the line with the cursor. */
  lineStart(): number
  lineEnd(): number
  /** Moves to the line before or after, in the same column. False where there is none. */
  toLine(step: -1 | 1): boolean
  /** Handles any other key as readline does: words, the kill ring, undo, text. */
  key(text: string | undefined, key: Key): void
  close(): void
}

/** Members of readline's Interface that its types declare as read-only. */
type Line = { line: string; cursor: number }

/** Opens an empty text. readline edits it, and draws nothing. */
export function openBuffer(): Buffer {
  const keys = new PassThrough()
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  const editor = createInterface({ input: keys, output: nowhere, terminal: true, prompt: '', historySize: 0 })
  const line = editor as unknown as Line
  const press = (text: string | undefined, key: Partial<Key>) => keys.emit('keypress', text, { ctrl: false, ...key })

  const buffer: Buffer = {
    get text() {
      return line.line
    },
    get cursor() {
      return line.cursor
    },
    set(text, cursor = text.length) {
      line.line = text
      line.cursor = cursor
    },
    insert(text) {
      const { line: before, cursor } = line
      buffer.set(before.slice(0, cursor) + text + before.slice(cursor), cursor + text.length)
    },
    type(text) {
      // readline takes a line break for the end of the text.
      if (text.includes('\n')) buffer.insert(text)
      else if (text !== '') press(text, { name: 'yanked' })
    },
    move(cursor) {
      line.cursor = cursor
    },
    left: () => buffer.move(beforeGrapheme(line.line, line.cursor)),
    right: () => buffer.move(afterGrapheme(line.line, line.cursor)),
    deleteLeft() {
      const to = beforeGrapheme(line.line, line.cursor)
      // readline removes a code point for each key.
      while (line.cursor > to) press(undefined, { name: 'backspace' })
    },
    deleteRight() {
      const { length } = line.line
      const rest = length - (afterGrapheme(line.line, line.cursor) - line.cursor)
      while (line.line.length > rest) press(undefined, { name: 'delete' })
    },
    lineStart: () => line.line.lastIndexOf('\n', line.cursor - 1) + 1,
    lineEnd() {
      const at = line.line.indexOf('\n', line.cursor)
      return at === -1 ? line.line.length : at
    },
    toLine(step) {
      const [start, stop] = [buffer.lineStart(), buffer.lineEnd()]
      const column = line.cursor - start
      if (step === -1 ? start === 0 : stop === line.line.length) return false
      buffer.move(step === -1 ? start - 1 : stop + 1)
      const target = Math.min(buffer.lineStart() + column, buffer.lineEnd())
      // Not within a character.
      buffer.move(target >= buffer.lineEnd() ? target : afterGrapheme(line.line, beforeGrapheme(line.line, target)))
      return true
    },
    key: (text, key) => void press(text, key),
    close() {
      editor.close()
      keys.destroy()
    },
  }
  return buffer
}
