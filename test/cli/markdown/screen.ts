import xterm from '@xterm/headless'
import { openMarkdownView } from '../../../src/cli/markdown/view.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'

/** A window of a terminal emulator. */
export interface Screen {
  readonly io: Pick<Io, 'columns' | 'rows' | 'onResize' | 'out' | 'err'>
  /** All bytes that were written. */
  bytes(): string
  /** The lines of the screen and of its scrollback, without empty ones at the end. */
  lines(): Promise<readonly string[]>
  /** The same, with lines that the terminal broke in one, as they are copied. */
  copied(): Promise<readonly string[]>
  /** The cursor's column. */
  column(): number
  title(): string
  resize(columns: number, rows: number): void
}

export function openScreen(columns: number, rows: number): Screen {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 20_000,
    allowProposedApi: true,
    convertEol: true,
  })
  const listeners = new Set<() => void>()
  let bytes = ''
  let title = ''
  terminal.onTitleChange((text) => {
    title = text
  })
  const flushed = () => new Promise<void>((resolve) => terminal.write('', resolve))
  const io: Screen['io'] = {
    get columns() {
      return terminal.cols
    },
    get rows() {
      return terminal.rows
    },
    onResize(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async out(data) {
      bytes += String(data)
      terminal.write(data)
    },
    err: (text) => terminal.write(`${text}\n`),
  }
  return {
    io,
    bytes: () => bytes,
    async lines() {
      await flushed()
      const { active } = terminal.buffer
      const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)!.translateToString(true))
      while (lines.at(-1) === '') lines.pop()
      return lines
    },
    async copied() {
      await flushed()
      const { active } = terminal.buffer
      const whole: string[] = []
      for (let at = 0; at < active.length; at++) {
        const line = active.getLine(at)!
        const text = line.translateToString(!active.getLine(at + 1)?.isWrapped)
        if (line.isWrapped) whole.push(`${whole.pop()}${text}`)
        else whole.push(text)
      }
      return whole
    },
    column: () => terminal.buffer.active.cursorX,
    title: () => title,
    resize(columns, rows) {
      terminal.resize(columns, rows)
      for (const listener of listeners) listener()
    },
  }
}

/** Writes pieces of Markdown, each one drawn. */
export async function streamed(screen: Screen, pieces: readonly string[]): Promise<void> {
  const view = await openMarkdownView(screen, 0)
  for (const piece of pieces) await view.write(piece)
  await view.end()
}

/** The pieces of a text that is cut at every byte: a character of several bytes arrives with its last one. */
export function cutAtEveryByte(text: string): readonly string[] {
  const decoder = new TextDecoder()
  return [...Buffer.from(text)].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true }))
}
