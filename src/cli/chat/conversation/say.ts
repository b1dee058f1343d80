import type { Cli } from '../../terminal/cli.ts'
import { stripControls } from '../../terminal/io.ts'

/** Prints the output of a command on stderr: stdout holds answers alone. */
export function say(cli: Cli, text: string): void {
  cli.io.err(stripControls(text))
}

/** Rows of a list that are shown. */
const mostRows = 40

/** Prints a list, and the number of rows left out. */
export function sayList(cli: Cli, rows: readonly string[], rest: string): void {
  const shown = rows.slice(0, mostRows)
  const more = rows.length > mostRows ? [`and ${rows.length - mostRows} more${rest}`] : []
  say(cli, [...shown, ...more].map((row) => `  ${row}`).join('\n'))
}
