import type { z } from 'zod'
import type { showUsage } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { type Column, listing } from '../terminal/table.ts'

type Row = z.output<typeof showUsage.output>['rows'][number]

/** Sums as a table. */
export function usageTable(cli: Cli, rows: readonly Row[], by: readonly string[]): Promise<string> {
  const columns = [...by.map(nameColumn), ...sumColumns(rows, cli.globals().plain === true)]
  return listing(cli, rows, 'no usage in this time', columns)
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
