import { numberColumn, stateColumn, textColumn, timeColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { Notice } from '../../components/notice.tsx'
import { bytes, count, dateTime, duration } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import { save } from '../../wire/save.ts'
import type { FullBackups as Answer, VerifiedBackup } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'

/** Backups of everything: made, verified, saved and removed here; restored in a terminal, with the service stopped. */
export function FullBackups() {
  const data = useData<Answer>((signal) => ask('GET', '/api/backups', { signal }), [])
  const { place, schedule, backups } = data.value ?? {}
  const of = ({ created_at }: { readonly created_at: number }) => `the backup of ${dateTime(created_at)}`
  return (
    <Listing<Answer['backups'][number]>
      title="Backups of everything"
      data={{ ...data, value: backups }}
      keyOf={({ name }) => name}
      main={{
        icon: 'add',
        words: 'Back up now',
        work: () => ask('POST', '/api/backups', { body: {} }),
        done: 'Everything is backed up',
      }}
      empty={['No backup yet', 'One file holds all that this installation keeps, but for provider keys.']}
      columns={[
        timeColumn('Made', ({ created_at }) => created_at),
        textColumn('By', ({ scheduled }) => (scheduled ? 'the schedule' : 'hand')),
        numberColumn('Size', ({ bytes: size }) => size, bytes),
        stateColumn('Encrypted', ({ encrypted }) => (encrypted ? 'yes' : 'no'), { yes: 'good', no: 'warning' }),
      ]}
      actions={[
        { icon: 'check', label: (backup) => `Verify ${of(backup)}`, work: verify },
        {
          icon: 'download',
          label: (backup) => `Save ${of(backup)}`,
          work: ({ name }) => save('GET', path`/api/backups/${name}`, name),
        },
        {
          icon: 'trash',
          label: (backup) => `Remove ${of(backup)}`,
          work: ({ name }) => ask('DELETE', path`/api/backups/${name}`),
          confirm: ['Remove', ({ name }) => `${name} is deleted for good.`],
        },
      ]}
    >
      {data.value && (
        <p class="muted text">
          {schedule
            ? `Made every ${duration(1000 * schedule.every_seconds)}; the newest ${count(schedule.keep)} stay.`
            : 'No schedule makes them: set backup.every.'}{' '}
          The last one: {backups?.[0] ? dateTime(backups[0].created_at) : 'none yet'}. They lie in {place}.
        </p>
      )}
      <Notice kind="warning">
        To restore one, stop the service and run <code>aichat backup restore NAME</code> on its machine: all data is
        replaced and every login ends, which no running service can do to itself. The earlier data is kept aside.
      </Notice>
    </Listing>
  )
}

/** Reads a whole backup and says what it holds. An encrypted one is read with the passphrase of the service. */
async function verify({ name }: { readonly name: string }): Promise<string> {
  const found = await ask<VerifiedBackup>('POST', path`/api/backups/${name}/verify`, { body: {} })
  return `It is whole: ${count(found.users)} users and ${count(found.files)} files, ${bytes(found.bytes)} by ${found.program}`
}
