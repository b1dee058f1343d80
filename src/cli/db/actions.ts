import {
  checkDatabase,
  type DatabaseCheck,
  type DatabaseStatus,
  databaseStatus,
  isStillSet,
  type MovedFrom,
  type MovedTo,
  moveDatabase,
  type TransferControl,
} from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { readSecret } from '../../settings/settings.ts'
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

/** Moves everything to PostgreSQL, or back. */
export async function migrate(
  cli: Cli,
  options: { readonly to?: string | true; readonly from?: string | true; readonly keep?: boolean },
): Promise<void> {
  await refuseServer(cli)
  const settings = await cli.settings()
  const moved = await withProgress(cli, (control) => moveDatabase(settings, options, control)).catch((reason) => {
    if (cli.signal().aborted) note(cli, 'aichat: stopped: nothing was moved, and both sides are as they were')
    throw reason
  })
  await print(cli, moved, () => '')
  if ('from' in moved) toldFrom(cli, moved, isStillSet(settings, moved.from))
  else
    toldTo(
      cli,
      moved,
      options.keep === true,
      readSecret('JWT_SECRET', settings.environment) !== undefined,
      settings.paths.data,
    )
}

function toldTo(cli: Cli, moved: MovedTo, isCopy: boolean, hasSecret: boolean, folder: string): void {
  if (moved.rows.length === 0) note(cli, `aichat: the data had moved to ${moved.to} before; the folder says so now`)
  else note(cli, `aichat: ${isCopy ? 'copied' : 'moved'} ${contentsOf(moved)} to ${moved.to}; both sides are equal`)
  if (isCopy) {
    note(cli, `aichat: the data folder ${folder} stays in use; later writes to it are not copied`)
    return
  }
  note(cli, 'aichat: set DATABASE_URL to that database, on this machine and on every further instance')
  if (!hasSecret)
    note(cli, `aichat: logins go on where JWT_SECRET is the text of ${folder}/token-secret, on every instance`)
}

function toldFrom(cli: Cli, moved: MovedFrom, isSet: boolean): void {
  note(cli, `aichat: moved ${contentsOf(moved)} from ${moved.from}; both sides are equal`)
  if (moved.before !== undefined)
    note(cli, `aichat: the data from before is in ${moved.before}; remove it when it is no longer needed`)
  if (isSet) note(cli, 'aichat: unset DATABASE_URL: the data folder is used without it')
}

function contentsOf({ rows }: MovedTo | MovedFrom): string {
  const kinds = ['accounts', 'personas', 'memories', 'conversations']
  return kinds.map((name) => `${rows.find((one) => one.rows === name)?.count ?? 0} ${name}`).join(', ')
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
    ['moved to', shown.moved_to],
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
