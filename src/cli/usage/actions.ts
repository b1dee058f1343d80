import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted, csvLine } from '../../formats/formats.ts'
import { checkUsage, exportUsage as exportOperation, pruneUsage, showUsage } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { streamOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { keyIdOf } from '../terminal/key-id.ts'
import { note, print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { confirm } from '../terminal/prompts.ts'
import { type Column, listing } from '../terminal/table.ts'
import { idOf } from '../users/actions.ts'

type Usage = z.output<typeof showUsage.output>

/** Sums as a table, with bars on a terminal. */
export async function show(cli: Cli, { by, csv }: { by: string; csv?: boolean }): Promise<void> {
  const usage = await cli.ask(showUsage, await withIds(cli, fieldsOf(cli, showUsage)))
  if (csv && !cli.globals().json) return cli.io.out(onTerminal(cli, csvOf(usage, by.split(','))))
  await print(cli, usage, ({ rows }) => usageTable(cli, rows, by.split(',')))
  if (!cli.globals().json) note(cli, summaryOf(usage))
}

/** The requests one by one, to a file or to stdout. */
export async function exportUsage(cli: Cli, { output, force }: { output?: string; force?: boolean }): Promise<void> {
  const { body } = await cli.ask(exportOperation, {
    ...(await withIds(cli, fieldsOf(cli, exportOperation))),
    ...(cli.globals().json && { format: 'json' }),
  })
  const pieces = body instanceof Uint8Array ? [body] : body
  if (output !== undefined && output !== '-') return streamOutput(output, watched(cli, pieces), force === true)
  for await (const piece of pieces) {
    await cli.io.out(cli.io.stdoutIsTerminal ? stripControls(Buffer.from(piece).toString('utf8')) : piece)
    if (cli.io.outClosed) return
  }
}

/** Passes pieces through, with the amount so far on stderr. */
async function* watched(
  cli: Cli,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const progress = openProgress(cli)
  let bytes = 0
  progress.wait(() => `${(bytes / 1e6).toFixed(1)} MB exported`)
  try {
    for await (const piece of pieces) {
      bytes += piece.length
      yield piece
    }
  } finally {
    progress.clear()
  }
}

/** Prints differences between ledger and sums; exit 1 where there are any. */
export async function check(cli: Cli): Promise<void> {
  const found = await cli.ask(checkUsage, {})
  if (!found.ok) cli.exit = 1
  await print(cli, found, ({ ok, problems }) => (ok ? 'the ledger and its sums agree' : problems.join('\n')))
}

/** Removes old requests from the ledger, after a confirmation; their sums stay. */
export async function prune(cli: Cli): Promise<void> {
  await confirm(cli, 'Remove old requests from the ledger? Their sums stay.')
  const pruned = await cli.ask(pruneUsage, fieldsOf(cli, pruneUsage))
  await print(cli, pruned, ({ removed, before: day }) => `${counted(removed, 'request')} before ${day} removed`)
}

/** A request with the ids of its user and key instead of their names. */
async function withIds<F extends { readonly user?: string; readonly key?: string }>(cli: Cli, fields: F): Promise<F> {
  const { user, key } = fields
  return {
    ...fields,
    ...(user !== undefined && { user: await payerOf(cli, user) }),
    ...(key !== undefined && { key: await keyIdOf(cli, key) }),
  }
}

/** The id of a user by name; an unknown name stays as it is: it may be the id of a removed user, or `local`. */
async function payerOf(cli: Cli, user: string): Promise<string> {
  try {
    return await idOf(cli, user)
  } catch (reason) {
    if (reason instanceof AppError && (reason.code === 'not_found' || reason.code === 'forbidden')) return user
    throw reason
  }
}

function summaryOf({ total, since, until, timezone }: Usage): string {
  const cost = total.unpriced === total.requests && total.requests > 0 ? 'of unknown cost' : `$${total.cost_usd}`
  const remarks = [
    ...(total.failed > 0 ? [`${total.failed} failed`] : []),
    ...(total.unpriced > 0 && total.unpriced < total.requests ? [`${total.unpriced} without a known price`] : []),
    ...(total.estimated > 0 ? [`${total.estimated} estimated`] : []),
    ...(total.cached_tokens > 0 ? [`${total.cached_percent} % of the input from a cache`] : []),
  ]
  const more = remarks.length > 0 ? ` (${remarks.join(', ')})` : ''
  return `aichat: ${counted(total.requests, 'request')}, ${cost}${more}, from ${since} to ${until} ${timezone}`
}

/** The rows as CSV: the columns that were asked for, the names of users and keys next to their ids, and the sums. */
function csvOf({ rows, total }: Usage, by: readonly string[]): string {
  const names = { user: 'username', key: 'key_name' } as Readonly<Record<string, string>>
  const columns = by.flatMap((column) => (names[column] ? [column, names[column]] : [column]))
  const headings = [...columns, ...Object.keys(total)]
  const lines = rows.map((row) => headings.map((name) => (row as Record<string, string | number | null>)[name]))
  return [headings, ...lines].map(csvLine).join('')
}

function onTerminal(cli: Cli, text: string): string {
  return cli.io.stdoutIsTerminal ? stripControls(text) : text
}

type Row = z.output<typeof showUsage.output>['rows'][number]

function usageTable(cli: Cli, rows: readonly Row[], by: readonly string[]): Promise<string> {
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
