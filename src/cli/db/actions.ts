import { type CheckControl, checkDatabase } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'

/** Reads all of the database. Exits 1 where it finds problems. */
export async function check(cli: Cli): Promise<void> {
  await refuseServer(cli)
  const settings = await cli.settings()
  const checked = await withProgress(cli, (control) => checkDatabase(settings, control))
  if (checked.problems.length > 0) cli.exit = 1
  await print(cli, checked, (found) => checkedText(found))
}

/** Does work with a bar on a terminal; elsewhere, with --verbose, with a line for each tenth of it. */
async function withProgress<R>(cli: Cli, work: (control: CheckControl) => Promise<R>): Promise<R> {
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

function checkedText({ database, personas, problems }: Awaited<ReturnType<typeof checkDatabase>>): string {
  return [
    `${problems.length === 0 ? 'whole  ' : 'PROBLEM'} ${database}`,
    `        ${counted(personas, 'persona')} verified`,
    ...problems.map((problem) => `        ${problem}`),
  ].join('\n')
}
