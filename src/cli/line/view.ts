import type { Ruler } from '../markdown/styled.ts'
import type { Io } from '../terminal/io.ts'
import { type Edited, type Layout, layOut } from './layout.ts'

/** The edited text on the terminal of stderr. */
export interface LineView {
  draw(edited: Edited): void
  /** Draws the whole text for good, and ends its line. */
  finish(edited: Edited): void
  /** Prints lines where the text was; `draw` then draws it below. */
  above(lines: readonly string[]): void
  /** Forgets the drawn text: the cursor stands at the beginning of a line. */
  forget(): void
  /** Empties the window. */
  clear(): void
}

/** The terminal of a view. */
type Window = Pick<Io, 'columns' | 'rows' | 'stderr' | 'environment'>

/** Begins and ends a synchronised update: the terminal shows the changes at once (DEC private mode 2026). */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l']

/**
 * Draws a text in the rows that it takes, at most those of the window, around the cursor. The terminal itself finds the
 * cursor's column, by the text before it, so that it may give characters other widths than we do.
 */
export function openLineView(io: Window, ruler: Ruler): LineView {
  let drawn: Layout | undefined
  let drawnAt = 0

  return {
    draw(edited) {
      const columns = io.columns
      const next = shownPart(layOut(edited, columns, ruler))
      const added = drawn && columns === drawnAt ? addition(drawn, next) : undefined
      if (added !== undefined) io.stderr.write(added)
      else put(next)
      drawn = next
      drawnAt = columns
    },
    finish(edited) {
      const whole = layOut({ ...edited, cursor: edited.text.length }, io.columns, ruler)
      if (drawn && addition(drawn, whole) === '') io.stderr.write('\r\n')
      else io.stderr.write(`${begin}${erased()}${whole.rows.join('\r\n')}\r\n${end}`)
      drawn = undefined
    },
    above(lines) {
      io.stderr.write(`${erased()}${lines.map((line) => `${line}\r\n`).join('')}`)
      drawn = undefined
    },
    forget() {
      drawn = undefined
    },
    clear() {
      io.stderr.write('\x1b[H\x1b[2J')
      drawn = undefined
    },
  }

  function put({ rows, cursorRow, before }: Layout): void {
    const up = rows.length - 1 - cursorRow
    const isAtEnd = up === 0 && before === rows.at(-1)
    const back = isAtEnd ? '' : `${up > 0 ? `\x1b[${up}A` : ''}\r${before}`
    const text = `${rows.join('\r\n')}${back}`
    io.stderr.write(drawn ? `${begin}${erased()}${text}${end}` : text)
  }

  /** The bytes that remove the drawn text. */
  function erased(): string {
    if (!drawn) return ''
    const up = rowsAbove(drawn)
    return `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`
  }

  /** The rows above the cursor now, of which a window that became narrower may have broken some into more. */
  function rowsAbove({ rows, cursorRow, before }: Layout): number {
    const { columns } = io
    const above = rows.slice(0, cursorRow)
    const breaks = columns < drawnAt ? rowsBrokenBy(io.environment) : 'none'
    const broken = (text: string) => Math.max(1, Math.ceil(ruler.columns(text) / columns))
    const count = breaks === 'none' ? above.length : above.reduce((sum, row) => sum + broken(row), 0)
    // The cursor stands on the character behind the text before it, and behind a last full row still in that row.
    const isAtEnd = before === rows[cursorRow]
    const own = breaks === 'all' ? broken(isAtEnd ? before : `${before} `) - 1 : 0
    return Math.min(count + own, Math.max(0, io.rows - 1))
  }

  /** The rows around the cursor that fit into the window. */
  function shownPart(whole: Layout): Layout {
    const height = Math.max(1, io.rows)
    const { rows, cursorRow } = whole
    if (rows.length <= height) return whole
    const first = Math.min(Math.max(0, cursorRow - Math.floor(height / 2)), rows.length - height)
    return { ...whole, rows: rows.slice(first, first + height), cursorRow: cursorRow - first }
  }
}

/**
 * The rows that a terminal breaks again when it becomes narrower: all in tmux, VTE, kitty and most others; in xterm.js, the
 * terminal of VS Code, those above the cursor's (xterm.js `reflowCursorLine`); in xterm, GNU screen and the console of Linux
 * none. A multiplexer hides the terminal around it, whose variables it inherits.
 */
function rowsBrokenBy(environment: Io['environment']): 'all' | 'above' | 'none' {
  const has = (name: string) => (environment[name] ?? '') !== ''
  if (has('TMUX')) return 'all'
  if (has('STY') || has('XTERM_VERSION') || environment['TERM'] === 'linux') return 'none'
  return environment['TERM_PROGRAM'] === 'vscode' ? 'above' : 'all'
}

/** The text that was only added at the end of the drawn text; undefined for any other change. */
function addition(one: Layout, other: Layout): string | undefined {
  const last = one.rows.length - 1
  const isEnd = ({ rows, cursorRow, before }: Layout) => cursorRow === rows.length - 1 && before === rows.at(-1)
  if (!isEnd(one) || !isEnd(other) || other.rows.length !== one.rows.length) return undefined
  if (one.rows.slice(0, last).some((row, at) => row !== other.rows[at])) return undefined
  const [before, after] = [one.rows[last]!, other.rows[last]!]
  return after.startsWith(before) ? after.slice(before.length) : undefined
}
