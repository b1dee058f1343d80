/** The size of a window. */
export interface WindowSize {
  readonly columns: number
  readonly rows: number
}

/** The lines at the end of a terminal's output that are drawn again while they change. */
export interface LiveLines {
  /** The bytes that write final lines where the live ones were, and new live ones below. */
  draw(final: readonly string[], live: readonly string[]): string
}

/** Begins and ends a synchronised update: the terminal shows the changes at once (DEC private mode 2026). */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l']

/**
 * Draws below the final lines. The cursor waits in the first column below the live lines, so that other output there
 * starts on a line of its own, and a program that ends at any time leaves nothing to restore. Of live lines that do not
 * fit into the window the last ones are shown. Live lines are at most as wide as the window; final ones may be wider.
 */
export function createLiveLines(size: () => WindowSize, columnsOf: (line: string) => number): LiveLines {
  let drawn: readonly string[] = []
  let drawnAt = size().columns

  return {
    draw(final, live) {
      const { columns, rows } = size()
      const shown = live.slice(-Math.max(1, rows - 1))
      const lines = [...final, ...shown]
      const same = columns === drawnAt ? alike(drawn, lines) : 0
      const up = Math.min(rowsOf(drawn.slice(same), columns), Math.max(0, rows - 1))
      drawn = shown
      drawnAt = columns
      const text = lines
        .slice(same)
        .map((line) => `${line}\n`)
        .join('')
      return up === 0 ? text : `${begin}\x1b[${up}A\r\x1b[J${text}${end}`
    },
  }

  /** The rows that lines take now: a window that became narrower has broken them. */
  function rowsOf(lines: readonly string[], columns: number): number {
    if (columns >= drawnAt) return lines.length
    return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0)
  }
}

/** The number of lines at the beginning that are the same. */
function alike(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((line, index) => line !== other[index])
  return at === -1 ? one.length : at
}
