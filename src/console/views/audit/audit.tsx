import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Table } from '../../components/table.tsx'
import { count, dateTime } from '../../page/format.ts'
import { ask } from '../../wire/client.ts'
import type { AuditEntry } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { type Area, areas, deedOf } from './deeds.ts'

const periods = [
  ['', 'Any time'],
  ['1d', 'Last day'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const

type Period = (typeof periods)[number][0]

/** Entries of one page. */
const pageSize = 50

/** What was done, by whom and from where, for administrators. */
export function Audit() {
  const [actor, setActor] = useState('')
  const [area, setArea] = useState<Area>('')
  const [since, setSince] = useState<Period>('')
  const [offset, setOffset] = useState(0)
  const filter = { ...(actor && { actor }), ...(area && { action: area }), ...(since && { since }) }
  const data = useData<{ entries: readonly AuditEntry[]; total: number }>(
    (signal) => ask('GET', '/api/audit', { query: { limit: pageSize, offset, ...filter }, signal }),
    [actor, area, since, offset],
  )
  const { entries = [], total = 0 } = data.value ?? {}
  const first =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      setOffset(0)
    }
  return (
    <Page title="Audit" lead="Who did what, when and from where">
      <div class="row">
        <TextField label="By" type="search" placeholder="Name of a user" value={actor} onInput={first(setActor)} />
        <Select label="What" value={area} options={areas} onInput={first(setArea)} />
        <Select label="When" value={since} options={periods} onInput={first(setSince)} />
      </div>
      <Problem of={data.problem} />
      <p class="muted" role="status">
        {data.value && (total === 0 ? 'Nothing matches' : `${count(total)} in all, the newest first`)}
      </p>
      <Table
        caption="Audit"
        rows={entries.map((entry, number) => ({ ...entry, key: `${entry.at} ${number}` }))}
        keyOf={({ key }) => key}
        columns={[
          { name: 'Time', of: ({ at }) => dateTime(at) },
          {
            name: 'By',
            of: ({ actor: id, actor_name: name, outcome }) => (
              <span class="line">{name ?? id ?? (outcome === 'ok' ? 'the service' : 'nobody who is known')}</span>
            ),
          },
          {
            name: 'What',
            of: (entry) => (entry.outcome === 'ok' ? deedOf(entry) : <Badge tone="bad">{deedOf(entry)}</Badge>),
          },
          { name: 'To what', of: ({ subject, subject_name: name }) => <span class="line">{name ?? subject}</span> },
          { name: 'From', of: ({ address, actor: id }) => address ?? (id && 'this machine'), isExtra: true },
        ]}
      />
      <Pager offset={offset} size={pageSize} hasMore={offset + pageSize < total} onOffset={setOffset} />
    </Page>
  )
}
