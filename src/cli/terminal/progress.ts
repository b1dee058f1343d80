import type { Cli } from './cli.ts'

/** A line on stderr that shows how far something is. */
export interface Progress {
  /** `share` from 0 to 1; `text` says what is being done. */
  show(share: number, text: string): void
  /** Takes the line away, before something else is printed. */
  clear(): void
}

/** A bar of so many characters, and the least milliseconds between two drawings of it. */
const width = 24
const restMs = 80

/** A progress bar where somebody watches: on a terminal that can redraw a line, and neither with --quiet nor with --json. */
export function openProgress(cli: Cli): Progress {
  const { quiet, json } = cli.globals()
  const redraws = cli.io.stderrIsTerminal && cli.io.environment['TERM'] !== 'dumb'
  if (!redraws || quiet || json) return { show() {}, clear() {} }
  let drawnAt = Number.NEGATIVE_INFINITY
  let drawn = false
  return {
    show(share, text) {
      const now = performance.now()
      if (now - drawnAt < restMs && share < 1) return
      drawnAt = now
      drawn = true
      const full = Math.round(Math.min(1, Math.max(0, share)) * width)
      const room = Math.max(10, cli.io.columns - width - 12)
      const bar = `${'#'.repeat(full)}${'-'.repeat(width - full)}`
      cli.io.stderr.write(`\r\x1b[K[${bar}] ${String(Math.floor(share * 100)).padStart(3)}% ${text.slice(0, room)}`)
    },
    clear() {
      if (drawn) cli.io.stderr.write('\r\x1b[K')
      drawn = false
      drawnAt = Number.NEGATIVE_INFINITY
    },
  }
}
