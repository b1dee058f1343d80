import { printableLine } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'

/** A progress line on stderr. */
export interface Progress {
  /** `share` is from 0 to 1; `text` stands behind the bar, and the time left where it can be estimated. */
  show(share: number, text: string): void
  /**
   * Shows the seconds so far of work with an unknown amount, from the first one on, until the next `show` or `clear`.
   */
  wait(text: () => string): void
  /** Erases the line before other output. */
  clear(): void
}

/** The bar's length: characters. */
const width = 24
/** The least time between two drawings: milliseconds. */
const intervalMs = 80
/** A speed says little before this: milliseconds. */
const guessAfterMs = 2_000
/** Work that ends sooner is not remarked on; also the time between two remarks: milliseconds. */
const secondMs = 1_000

/** When a bar was last drawn on the terminal of this process. */
let barAt = Number.NEGATIVE_INFINITY

/** A progress line on terminals; silent with --quiet, --json and CI. `doneBefore` is the share of an earlier run. */
export function openProgress(cli: Cli, doneBefore = 0): Progress {
  const { quiet, json } = cli.globals()
  const { TERM, CI } = cli.io.environment
  if (!cli.io.stderrIsTerminal || TERM === 'dumb' || CI || quiet || json) return { show() {}, wait() {}, clear() {} }
  const begunAt = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  let drawn = false
  let timer: NodeJS.Timeout | undefined
  return {
    show(share, text) {
      clearInterval(timer)
      const now = performance.now()
      if (now - drawnAt < intervalMs && share < 1) return
      drawnAt = now
      barAt = now
      const full = Math.round(Math.min(1, Math.max(0, share)) * width)
      const bar = `${'#'.repeat(full)}${'-'.repeat(width - full)}`
      draw(
        `[${bar}] ${String(Math.floor(share * 100)).padStart(3)}% ${text}${timeLeft(share, doneBefore, now - begunAt)}`,
      )
    },
    wait(text) {
      clearInterval(timer)
      const since = performance.now()
      timer = setInterval(() => {
        const now = performance.now()
        // A bar of the same command says more.
        if (now - barAt >= secondMs) draw(`${text()} … ${durationText(now - since)}`)
      }, secondMs)
      // The work keeps the process alive, and not the remark on it.
      timer.unref()
    },
    clear() {
      clearInterval(timer)
      if (drawn) cli.io.stderr.write('\r\x1b[K')
      drawn = false
      drawnAt = Number.NEGATIVE_INFINITY
    },
  }

  function draw(line: string): void {
    drawn = true
    // A line that reaches the last column would wrap, and stay.
    cli.io.stderr.write(`\r\x1b[K${printableLine(line).slice(0, Math.max(10, cli.io.columns - 1))}`)
  }
}

/** Does something that may take long, with its seconds on stderr from the first one on. */
export async function withProgress<T>(cli: Cli, text: string, work: () => Promise<T>): Promise<T> {
  const progress = openProgress(cli)
  progress.wait(() => text)
  try {
    return await work()
  } finally {
    progress.clear()
  }
}

function timeLeft(share: number, doneBefore: number, elapsedMs: number): string {
  if (elapsedMs < guessAfterMs || share <= doneBefore || share >= 1) return ''
  return `, ${durationText((elapsedMs * (1 - share)) / (share - doneBefore))} left`
}

/** `40 s`, `3 min`, `2 h`. */
function durationText(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000))
  if (seconds < 100) return `${seconds} s`
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
