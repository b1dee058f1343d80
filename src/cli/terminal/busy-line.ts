import type { Io } from './io.ts'

/** Work that ends sooner is not remarked on: milliseconds. */
const delayMs = 300
/** The time between two drawings: milliseconds. */
const frameMs = 100

/** Begins and ends a synchronised update (DEC private mode 2026): the terminal shows the changes at once. */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l']

interface Drawn {
  erase(): void
  /** How many questions have the terminal. */
  holds: number
}

/** The line of each terminal that has one. */
const lines = new WeakMap<Io, Drawn>()

/** The streams of a terminal with all output erasing its busy line first; other streams as they are. */
export function erasingBusyLine(io: Io): Io {
  if (!io.stderrIsTerminal || !io.stdoutIsTerminal) return io
  const erasing: Io = Object.create(io, {
    out: {
      value: (data: string | Uint8Array) => {
        lines.get(erasing)?.erase()
        return io.out(data)
      },
    },
    err: {
      value: (text: string) => {
        lines.get(erasing)?.erase()
        io.err(text)
      },
    },
  })
  return erasing
}

/** Whether work under way is shown at this terminal already. */
export function hasBusyLine(io: Io): boolean {
  return lines.has(io)
}

/** Keeps the busy line away while a question has the terminal, until the returned function is called. */
export function holdBusyLine(io: Io): () => void {
  const line = lines.get(io)
  if (!line) return () => {}
  line.holds++
  line.erase()
  return () => void line.holds--
}

/** Opens the busy line of a terminal. Its rows must be narrower than the window. */
export function openBusyLine(io: Io) {
  let rows: () => readonly string[] = () => []
  let timer: NodeJS.Timeout | undefined
  let shown: readonly string[] = []
  const line: Drawn = { erase, holds: 0 }
  lines.set(io, line)
  return {
    /** Draws these rows from 300 ms after now on, and again as they change; the first call after `rest` counts. */
    show(next: () => readonly string[]) {
      rows = next
      timer ??= setTimeout(tick, delayMs).unref()
    },
    rest,
    /** Takes the rows away for good. */
    end() {
      rest()
      if (lines.get(io) === line) lines.delete(io)
    },
  }

  function tick(): void {
    timer = setTimeout(tick, frameMs).unref()
    if (line.holds === 0) draw(rows())
  }

  function draw(next: readonly string[]): void {
    if (next.join('\n') === shown.join('\n')) return
    const text = `${away()}${next.join('\n')}`
    shown = next
    io.stderr.write(`${begin}${text}${end}`)
  }

  function erase(): void {
    if (shown.length > 0) io.stderr.write(away())
    shown = []
  }

  /** The bytes that take the rows away; a window that became narrower has broken them. */
  function away(): string {
    if (shown.length === 0) return '\r'
    const up = shown.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / io.columns)), 0) - 1
    return `${up > 0 ? `\x1b[${up}A` : ''}\r\x1b[J`
  }

  /** Takes the rows away until the next `show`. */
  function rest(): void {
    clearTimeout(timer)
    timer = undefined
    erase()
  }
}

/** The characters of a row without its styles. */
function widthOf(row: string): number {
  return row.replace(/\x1b\[[\d;]*m/g, '').length
}
