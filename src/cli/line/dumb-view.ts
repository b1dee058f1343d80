import type { Io } from '../terminal/io.ts'
import type { LineView } from './view.ts'

/**
 * Shows a text on a terminal without control sequences: text added at the end is written, after any other change the
 * whole is written again.
 */
export function openDumbView(io: Pick<Io, 'stderr'>): LineView {
  let drawn: string | undefined

  const draw = (shown: string) => {
    if (drawn === undefined) io.stderr.write(shown)
    else if (shown.startsWith(drawn)) io.stderr.write(shown.slice(drawn.length))
    else io.stderr.write(`\r\n${shown}`)
    drawn = shown
  }
  return {
    draw: ({ mark, text }) => draw(shownText(mark, text)),
    finish({ mark, text }) {
      draw(shownText(mark, text))
      io.stderr.write('\r\n')
      drawn = undefined
    },
    above(lines) {
      io.stderr.write(`\r\n${lines.map((line) => `${line}\r\n`).join('')}`)
      drawn = undefined
    },
    forget() {
      drawn = undefined
    },
    clear() {},
  }
}

function shownText(mark: string, text: string): string {
  return `${mark}${text.replaceAll('\n', '\r\n. ')}`
}
