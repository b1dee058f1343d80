import type { Cli } from './cli.ts'

/** A progress line on stderr. */
export interface Progress {
  /** `share` is from 0 to 1; `text` stands behind the bar. */
  show(share: number, text: string): void
  /** Erases the line before other output. */
  clear(): void
}

/** The bar's length: characters. */
const width = 24
/** The least time between two drawings: milliseconds. */
const intervalMs = 80

/** A progress bar on terminals that can redraw a line; silent with --quiet and --json. */
export function openProgress(cli: Cli): Progress {
  const { quiet, json } = cli.globals()
  const redraws = cli.io.stderrIsTerminal && cli.io.environment['TERM'] !== 'dumb'
  if (!redraws || quiet || json) return { show() {}, clear() {} }
  let drawnAt = Number.NEGATIVE_INFINITY
  let drawn = false
  return {
    show(share, text) {
      const now = performance.now()
      if (now - drawnAt < intervalMs && share < 1) return
      drawnAt = now
      drawn = true
      const full = Math.round(Math.min(1, Math.max(0, share)) * width)
      const space = Math.max(10, cli.io.columns - width - 12)
      const bar = `${'#'.repeat(full)}${'-'.repeat(width - full)}`
      cli.io.stderr.write(`\r\x1b[K[${bar}] ${String(Math.floor(share * 100)).padStart(3)}% ${text.slice(0, space)}`)
    },
    clear() {
      if (drawn) cli.io.stderr.write('\r\x1b[K')
      drawn = false
      drawnAt = Number.NEGATIVE_INFINITY
    },
  }
}
