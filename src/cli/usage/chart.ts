import type { z } from 'zod'
import type { showUsage } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { type Column, columnCounter, table } from '../terminal/table.ts'

type Row = z.output<typeof showUsage.output>['rows'][number]

/** Sums as a table; on a terminal with a bar for each row's cost, or its tokens where nothing cost anything. */
export async function usageChart(cli: Cli, rows: readonly Row[], by: readonly string[]): Promise<string> {
  const isPlain = cli.globals().plain === true
  const isChart = cli.io.stdoutIsTerminal && !isPlain
  const columns = [...by.map(nameColumn), ...sumColumns(rows, isPlain)]
  if (!isChart || rows.length === 0) return table(cli, rows, columns, 'no usage in this time')
  const text = await table(cli, rows, columns)
  const lines = text.trimEnd().split('\n')
  const widthOf = await widthCounter(lines)
  const widest = Math.max(...lines.map(widthOf))
  const room = Math.min(cli.io.columns - widest - 3, longestBar)
  if (room < shortestBar) return text
  const size = rows.some(({ cost_nano }) => cost_nano > 0)
    ? ({ cost_nano }: Row) => cost_nano
    : ({ input_tokens, output_tokens }: Row) => input_tokens + output_tokens
  const most = Math.max(...rows.map(size))
  const drawn = lines.map((line, at) => {
    const row = rows[at - 1]
    if (!row || most === 0) return line
    return `${line}${' '.repeat(widest - widthOf(line))}  ${bar((size(row) / most) * room)}`.trimEnd()
  })
  return `${drawn.join('\n')}\n`
}

/** Columns of a terminal. */
const longestBar = 50
const shortestBar = 8

/** A bar of so many columns, to an eighth: Unicode's block elements. */
function bar(length: number): string {
  const eighths = Math.max(length > 0 ? 1 : 0, Math.round(length * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]!
}

const styleCode = /\x1b\[\d+m/g

/** Counts the columns of lines that may hold style codes. */
async function widthCounter(lines: readonly string[]): Promise<(line: string) => number> {
  const bare = (line: string) => line.replace(styleCode, '')
  const width = await columnCounter(lines.map(bare))
  return (line) => width(bare(line))
}

function nameColumn(column: string): Column<Row> {
  const named = (name: string | undefined, id: string | null | undefined) => name ?? id ?? '-'
  if (column === 'user') return ['USER', ({ username, user }) => named(username, user)]
  if (column === 'key') return ['KEY', ({ key_name, key }) => named(key_name, key)]
  if (column === 'plugin') return ['PLUGIN', ({ plugin }) => plugin ?? 'local']
  if (column === 'model') return ['MODEL', ({ model }) => model ?? '']
  return ['DAY', ({ day }) => day ?? '']
}

/** Numbers stand at the right of their columns. Columns without a number above 0 are left out, save the first four. */
function sumColumns(rows: readonly Row[], isPlain: boolean): readonly Column<Row>[] {
  const all: readonly (readonly [string, (row: Row) => string, isOptional?: (row: Row) => boolean])[] = [
    ['REQUESTS', ({ requests }) => count(requests)],
    ['INPUT', ({ input_tokens }) => count(input_tokens)],
    ['OUTPUT', ({ output_tokens }) => count(output_tokens)],
    ['COST', isPlain ? ({ cost_usd }) => cost_usd : costText],
    ['FAILED', ({ failed }) => count(failed), ({ failed }) => failed > 0],
    ['UNPRICED', ({ unpriced }) => count(unpriced), ({ unpriced }) => unpriced > 0],
    ['ESTIMATED', ({ estimated }) => count(estimated), ({ estimated }) => estimated > 0],
    ['CACHED', ({ cached_tokens }) => count(cached_tokens), ({ cached_tokens }) => cached_tokens > 0],
    ['CACHED%', ({ cached_percent }) => percent(cached_percent), ({ cached_tokens }) => cached_tokens > 0],
    ['CHARACTERS', ({ characters }) => count(characters), ({ characters }) => characters > 0],
  ]
  const shown = all.filter(([, , isOptional]) => isPlain || !isOptional || rows.some(isOptional))
  return shown.map(([heading, text]) => {
    if (isPlain) return [heading, text]
    const width = Math.max(heading.length, ...rows.map((row) => text(row).length))
    return [heading.padStart(width), (row) => text(row).padStart(width)]
  })

  function percent(value: number): string {
    return isPlain ? String(value) : `${value} %`
  }

  function count(value: number): string {
    return isPlain ? String(value) : value.toLocaleString('en-US')
  }
}

/** A cost with cents, or with two digits that tell something; `unknown` where no attempt has a price. */
function costText({ cost_nano, unpriced, requests }: Row): string {
  if (unpriced === requests) return 'unknown'
  const usd = cost_nano / 1e9
  const places = usd === 0 || usd >= 1 ? 2 : Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(usd))))
  return `$${usd.toFixed(places)}`
}
