import { printableLine } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { coloured } from './colour.ts'
import { note } from './output.ts'

export type Column<Row> = readonly [heading: string, text: (row: Row) => string]

/** The characters that a column before the last one shows of a text: the longest name of a tool in MCP. */
const longestCell = 128

/** The rows as `table` writes them. Without any, the remark on that goes to stderr, unless --plain asks for the rows alone. */
export async function listing<Row>(
  cli: Cli,
  rows: readonly Row[],
  remarkWithoutRows: string,
  columns: readonly Column<Row>[],
): Promise<string> {
  if (rows.length === 0 && !cli.globals().plain) note(cli, `aichat: ${remarkWithoutRows}`)
  return table(cli, rows, columns)
}

/**
 * Aligns rows under headings, without characters that turn or hide text, which names and descriptions of others may hold;
 * a text that would push the next columns away is cut. With --plain, whole and tab-separated without headings. Without rows
 * the text is empty.
 */
export async function table<Row>(cli: Cli, rows: readonly Row[], columns: readonly Column<Row>[]): Promise<string> {
  const whole = rows.map((row) => columns.map(([, text]) => printableLine(text(row))))
  if (cli.globals().plain) return whole.map((line) => `${line.join('\t')}\n`).join('')
  if (rows.length === 0) return ''
  const cells = whole.map((line) => line.map((text, index) => (index === line.length - 1 ? text : cut(text))))
  const all = [columns.map(([heading]) => heading), ...cells]
  const width = await columnCounter(all.flat())
  const widths = columns.map((_, index) => Math.max(...all.map((line) => width(line[index]!))))
  const [headings = '', ...lines] = all.map((line) =>
    line
      .map((cell, index) => (index === line.length - 1 ? cell : cell + ' '.repeat(widths[index]! - width(cell))))
      .join('  ')
      .trimEnd(),
  )
  return [coloured(cli, 'stdout', 'bold', headings), ...lines].map((line) => `${line}\n`).join('')
}

function cut(text: string): string {
  if (text.length <= longestCell) return text
  const characters = [...text]
  return characters.length <= longestCell ? text : `${characters.slice(0, longestCell - 1).join('')}…`
}

/** Counts terminal columns. `string-width` takes 35 ms to load, so it is loaded only for text beyond ASCII. */
export async function columnCounter(texts: readonly string[]): Promise<(text: string) => number> {
  if (!texts.some((text) => /[^\x20-\x7e]/.test(text))) return (text) => text.length
  const { default: stringWidth } = await import('string-width')
  return stringWidth
}

/** Labels and values, one pair a line; pairs without a value are left out. `print` cleans them for a terminal. */
export function labelled(pairs: readonly (readonly [label: string, value: string | undefined])[], width = 14): string {
  return pairs.flatMap(([label, value]) => (value ? `${label.padEnd(width)}${value}` : [])).join('\n')
}

/** A size as people read it: `397 kB`, `1.4 MB`, `135 MB`, `1.9 GB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`
  if (bytes < 1e9) return `${bytes < 1e7 ? (bytes / 1e6).toFixed(1) : Math.round(bytes / 1e6)} MB`
  return `${(bytes / 1e9).toFixed(1)} GB`
}
