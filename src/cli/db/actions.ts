import {
  checkDatabase,
  type DatabaseCheck,
  type DatabaseStatus,
  databaseStatus,
  type TransferControl,
} from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { sizeText, table } from '../terminal/table.ts'

/** Shows the database and its content. */
export async function status(cli: Cli): Promise<void> {
  await refuseServer(cli)
  await print(cli, await databaseStatus(await cli.settings()), (shown) => textOf(cli, shown))
}

/** Reads all of the database. Exits 1 where it finds problems. */
export async function check(cli: Cli): Promise<void> {
  await refuseServer(cli)
  const settings = await cli.settings()
  const checked = await withProgress(cli, (control) => checkDatabase(settings, control))
  if (checked.problems.length > 0) cli.exit = 1
  await print(cli, checked, (found) => checkedText(found))
}

/** Does work with a bar on a terminal; elsewhere, with --verbose, with a line for each tenth of it. */
async function withProgress<R>(cli: Cli, work: (control: TransferControl) => Promise<R>): Promise<R> {
  const bar = openProgress(cli)
  let tenths = 0
  try {
    return await work({
      signal: cli.signal(),
      onStep({ doing, share }) {
        bar.show(share, doing)
        if (cli.io.stderrIsTerminal || !cli.globals().verbose || share * 10 < tenths + 1) return
        tenths = Math.floor(share * 10)
        note(cli, `aichat: ${tenths * 10} %, ${doing}`)
      },
    })
  } finally {
    bar.clear()
  }
}

async function refuseServer(cli: Cli): Promise<void> {
  const target = await findServer(cli)
  if (target?.from === 'flag')
    throw new AppError('usage', 'The database is looked after on the machine of an instance', {
      details: [`Run this there, without --server ${target.url}`],
    })
}

function checkedText({ database, personas, problems }: DatabaseCheck): string {
  return [
    `${problems.length === 0 ? 'whole  ' : 'PROBLEM'} ${database}`,
    `        ${counted(personas, 'persona')} verified`,
    ...problems.map((problem) => `        ${problem}`),
  ].join('\n')
}

async function textOf(cli: Cli, { schema, contents, ...shown }: DatabaseStatus): Promise<string> {
  const waiting = schema.pending > 0 ? `, ${counted(schema.pending, 'change')} at the next start` : ''
  const unknown = schema.unknown.length > 0 ? `, changes of a newer aichat: ${schema.unknown.join(', ')}` : ''
  const facts: readonly (readonly [string, string | null])[] = [
    ['database', shown.database],
    ['version', `${shown.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${shown.version}`],
    ['schema', `${schema.newest ?? 'none yet'}${waiting}${unknown}`],
    ['installation', shown.installation],
    ['vectors', shown.vectors],
    ['size', sizeText(shown.bytes)],
  ]
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(12)}  ${value}`]))
  const filled = contents.filter(({ count }) => count > 0)
  const listed = await table(
    cli,
    filled,
    [
      ['CONTENTS', (row) => row.rows],
      ['COUNT', (row) => String(row.count)],
      ['SIZE', (row) => (row.bytes === null ? '' : sizeText(row.bytes))],
    ],
    'it holds nothing yet',
  )
  return `${lines.join('\n')}\n\n${listed}`
}
