import type { Io } from '../terminal/io.ts'
import { type Highlighter, loadHighlighter } from './code.ts'
import { createLiveLines } from './live-lines.ts'
import { createMarkdownStream } from './stream.ts'
import { openRuler } from './styled.ts'

/** The terminal of stdout. */
interface Window {
  readonly io: Pick<Io, 'columns' | 'rows' | 'onResize' | 'out'>
}

/** Markdown on a terminal, written while it arrives. */
export interface MarkdownView {
  /** Takes a piece; the last one is not drawn before the end. */
  write(text: string, isLast?: boolean): Promise<void>
  /** Prints something else between the lines. */
  aside(print: () => void): Promise<void>
  /**
   * Writes the remaining text; the cursor then stands at the beginning of a line. May be called after a failed write.
   */
  end(): Promise<void>
}

/** The least time between two drawings, in milliseconds, and the largest share of the time that drawing takes. */
const frameMs = 30
const largestShare = 0.04

/** Opens a view of stdout, which must be a terminal. `frame` is the least time between two drawings in milliseconds. */
export async function openMarkdownView(cli: Window, frame = frameMs): Promise<MarkdownView> {
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
    async write(text, isLast = false) {
      // Marks of code are seen also where a cut runs through them.
      end = `${end.slice(-2)}${text}`
      if (!highlighter && /```|~~~/.test(end)) highlighter = loadHighlighter()
      final.push(...stream.push(text))
      if (isLast) return
      if (performance.now() >= dueAt) draw()
      else timer ??= setTimeout(draw, dueAt - performance.now()).unref()
      await written
    },
    async aside(print) {
      put(live.draw(take(), []))
      await written
      print()
      draw()
      await written
    },
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
