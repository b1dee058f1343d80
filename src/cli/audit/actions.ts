import { showAudit } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { withLocalTimes } from '../terminal/read-time.ts'
import { listing } from '../terminal/table.ts'
import { momentText } from '../terminal/times.ts'

/** The entries of the audit, the newest first. */
export async function list(cli: Cli): Promise<void> {
  const fields = withLocalTimes(fieldsOf(cli, showAudit), ['since'])
  const page = await cli.ask(showAudit, fields)
  await print(cli, page, ({ entries }) =>
    listing(cli, entries, 'no entry matches', [
      ['TIME', ({ at }) => momentText(cli, at, { seconds: true })],
      ['ACTOR', ({ actor, actor_name }) => actor_name ?? actor ?? ''],
      ['ACTION', ({ action }) => action],
      ['OUTCOME', ({ outcome }) => outcome],
      ['ADDRESS', ({ address }) => address ?? ''],
      ['SUBJECT', ({ subject, subject_name }) => subject_name ?? subject ?? ''],
    ]),
  )
  const next = Number(fields.offset ?? 0) + page.entries.length
  if (page.total > next) note(cli, `aichat: ${page.total} in all; --offset ${next} shows the next`)
}
