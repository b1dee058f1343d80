/** Writes lines, those of one turn of the event loop together: a write for each would cost more than the line. */
export interface LineWriter {
  write(line: string): void
  /** Writes what is kept, at once. */
  flush(): void
}

/** Characters after which lines are written before the turn ends. */
const mostKept = 64 * 1024

export function createLineWriter(write: (text: string) => unknown): LineWriter {
  let kept = ''
  const flush = () => {
    const text = kept
    kept = ''
    if (text !== '') write(text)
  }
  return {
    write(line) {
      if (kept === '') setImmediate(flush)
      kept += line
      if (kept.length > mostKept) flush()
    },
    flush,
  }
}
