import type { Io } from '../terminal/io.ts'
import { type Highlighter, loadHighlighter } from './code.ts'
import { createMarkdownStream } from './stream.ts'
import { openRuler } from './styled.ts'

/** The terminal of stdout. */
interface Window {
  readonly io: Pick<Io, 'columns' | 'rows' | 'onResize' | 'out'>
}

/** The least time between two drawings, in milliseconds, and the largest share of the time that drawing takes. */
const frameMs = 30
const largestShare = 0.04

/** Opens a view of stdout, which must be a terminal. `frame` is the least time between two drawings in milliseconds. */
export async function openMarkdownView(cli: Window, frame = frameMs) {
  const { io } = cli
  const ruler = await openRuler()
  let highlighter: Highlighter | undefined
  const size = () => ({ columns: Math.max(2, io.columns), rows: io.rows })
  const stream = createMarkdownStream({ ruler, width: () => size().columns, highlighter: () => highlighter })
  const live = createLiveLines(size, ruler.columns)
  let final: string[] = []
  let end = ''
  let dueAt = 0
  let timer: NodeJS.Timeout | undefined
  /** The write under way; its failure is reported by the next call. */
  let written = Promise.resolve()
  const stopListening = io.onResize(draw)

  return {
    /** Takes a piece; the last one is not drawn before the end. */
    async write(text: string, isLast: boolean = false) {
      // Marks of code are seen also where a cut runs through them.
      end = `${end.slice(-2)}${text}`
      if (!highlighter && /```|~~~/.test(end)) highlighter = loadHighlighter()
      final.push(...stream.push(text))
      if (isLast) return
      if (performance.now() >= dueAt) draw()
      else timer ??= setTimeout(draw, dueAt - performance.now()).unref()
      await written
    },
    /** Prints something else between the lines. */
    async aside(print: () => void) {
      put(live.draw(take(), []))
      await written
      print()
      draw()
      await written
    },
    /**
     * Writes the remaining text; the cursor then stands at the beginning of a line. May be called after a failed write.
     */
    async end() {
      stopListening()
      clearTimeout(timer)
      final.push(...stream.end())
      put(live.draw(take(), []))
      await written
    },
  }

  function draw(): void {
    clearTimeout(timer)
    timer = undefined
    const begun = performance.now()
    put(live.draw(take(), stream.open()))
    const now = performance.now()
    dueAt = now + (frame === 0 ? 0 : Math.max(frame, (now - begun) / largestShare))
  }

  function take(): string[] {
    const taken = final
    final = []
    return taken
  }

  function put(bytes: string): void {
    if (bytes === '') return
    written = written.then(() => io.out(bytes))
    // Reported by the call that awaits it.
    written.catch(() => {})
  }
}

/** Writes a whole text to stdout, a terminal, as an answer that streamed is shown. */
export async function writeMarkdown(cli: Window, text: string): Promise<void> {
  const view = await openMarkdownView(cli)
  await view.write(text, true)
  await view.end()
}

interface WindowSize {
  readonly columns: number
  readonly rows: number
}

/** Begins and ends a synchronised update: the terminal shows the changes at once (DEC private mode 2026). */
const [begin, end] = ['\x1b[?2026h', '\x1b[?2026l']

/**
 * Draws below the final lines. The cursor waits in the first column below the live lines, so that other output there
 * starts on a line of its own, and a program that ends at any time leaves nothing to restore. Of live lines that do not
 * fit into the window the last ones are shown. Live lines are at most as wide as the window; final ones may be wider.
 */
function createLiveLines(size: () => WindowSize, columnsOf: (line: string) => number) {
  let drawn: readonly string[] = []
  let drawnAt = size().columns

  return {
    /** The bytes that write final lines where the live ones were, and new live ones below. */
    draw(final: readonly string[], live: readonly string[]): string {
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
