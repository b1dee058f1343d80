/** Writes lines, those of one turn of the event loop together: a write for each would cost more than the line. */
export type LineWriter = ReturnType<typeof createLineWriter>

/** Bytes after which lines are written before the turn ends. */
const mostKept = 64 * 1024

/** @param most bytes that are written together, unless one line has more */
export function createLineWriter(write: (text: string) => unknown, most = mostKept) {
  let kept = ''
  /** Writes the buffered lines at once. */
  const flush = () => {
    const text = kept
    kept = ''
    if (text !== '') write(text)
  }
  return {
    write(line: string) {
      if (kept.length + line.length > most) flush()
      if (kept === '') setImmediate(flush)
      kept += line
    },
    flush,
  }
}
