import { useState } from 'preact/hooks'
import { numberColumn } from '../../components/columns.tsx'
import { Select } from '../../components/field.tsx'
import { Empty, Problem } from '../../components/notice.tsx'
import { Section } from '../../components/page.tsx'
import { Plot } from '../../components/plot.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Tile } from '../../components/tile.tsx'
import { count, day, dollars, shortCount } from '../../page/format.ts'
import { linkWith } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask } from '../../wire/client.ts'
import type { Usage, UsageRow } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { barsOf, everyDay } from './days.ts'

type Grouping = 'model' | 'plugin' | 'key' | 'user'

/** Sums, plots by day, and the shares of models, plugins, keys and users. */
export function Spend({ byDay, since }: { readonly byDay: Usage; readonly since: string }) {
  const { total } = byDay
  const { step, bars } = barsOf(everyDay(byDay))
  const by = step.split(' ')[0]!.toLowerCase()
  const pick = (at: number) => {
    const next = bars[at + 1]?.day
    const until = next === undefined ? byDay.until : new Date(Date.parse(next) - 86_400_000).toISOString().slice(0, 10)
    location.hash = requestsOf({ since: bars[at]!.day, until })
  }
  if (total.requests === 0)
    return (
      <Empty title="Nothing was used in this time">
        <p>Requests to models and speech are counted here, with their tokens and cost.</p>
      </Empty>
    )
  return (
    <>
      <div class="tiles quarters">
        <Tile
          name="Cost"
          figure={costOf(total)}
          note={total.unpriced > 0 ? `${count(total.unpriced)} without a known price` : 'all prices known'}
        />
        <Tile name="Requests" figure={count(total.requests)} note={`${count(total.failed)} failed`} />
        <Tile
          name="Tokens in"
          figure={shortCount(total.input_tokens)}
          note={`${shortCount(total.cached_tokens)} from a cache (${total.cached_percent} %)`}
        />
        <Tile
          name="Tokens out"
          figure={shortCount(total.output_tokens)}
          note={`${shortCount(total.reasoning_tokens)} of reasoning`}
        />
      </div>
      <div class="plots">
        <Plot
          title={`Cost by ${by}`}
          step={step}
          unit="US dollars"
          days={bars.map(({ day: name }) => name)}
          format={dollars}
          onPick={pick}
          series={[{ name: 'Cost', values: bars.map(({ cost }) => cost) }]}
        />
        <Plot
          title={`Tokens by ${by}`}
          step={step}
          unit="tokens"
          days={bars.map(({ day: name }) => name)}
          format={shortCount}
          onPick={pick}
          series={[
            { name: 'In', values: bars.map(({ input }) => input) },
            { name: 'Out', values: bars.map(({ output }) => output) },
          ]}
        />
      </div>
      <Shares since={since} />
      <Section title="By day">
        <Table
          caption="Usage by day"
          rows={byDay.rows.toReversed()}
          keyOf={({ day: name = '' }) => name}
          file={`usage-${since}.csv`}
          columns={[
            {
              name: 'Day',
              of: ({ day: name = '' }) => <a href={requestsOf({ since: name, until: name })}>{day(name)}</a>,
              value: (row) => row.day,
            },
            ...sums,
          ]}
        />
      </Section>
    </>
  )
}

const sums: readonly Column<UsageRow>[] = [
  numberColumn('Requests', ({ requests }) => requests),
  numberColumn('Failed', ({ failed }) => failed, count, { isExtra: true }),
  numberColumn('Tokens in', ({ input_tokens }) => input_tokens, count, { isExtra: true }),
  numberColumn(
    'Cached',
    ({ cached_percent }) => cached_percent,
    (share) => `${share} %`,
    { isExtra: true },
  ),
  numberColumn('Tokens out', ({ output_tokens }) => output_tokens),
  { name: 'Cost', of: (row) => costOf(row), value: ({ cost_usd }) => Number(cost_usd), isNumber: true },
]

function costOf({ cost_usd, unpriced, requests }: Pick<UsageRow, 'cost_usd' | 'unpriced' | 'requests'>): string {
  return unpriced === requests && requests > 0 ? 'unknown' : dollars(Number(cost_usd))
}

function Shares({ since }: { readonly since: string }) {
  const { isAdmin } = useSession()
  const [by, setBy] = useState<Grouping>('model')
  return (
    <Section
      title="Shares"
      actions={
        <Select
          label="By"
          value={by}
          onInput={setBy}
          options={[
            ['model', 'model'],
            ['plugin', 'plugin'],
            ['key', 'key'],
            ...(isAdmin ? [['user', 'user'] as const] : []),
          ]}
        />
      }
    >
      <ShareTable key={by + since} by={by} since={since} />
    </Section>
  )
}

/** The shares by one thing: those by another one are gone at once, also where these cannot be fetched. */
function ShareTable({ by, since }: { readonly by: Grouping; readonly since: string }) {
  const { value, problem } = useData<Usage>(
    (signal) => ask('GET', '/api/usage', { query: { by, since }, signal }),
    [by, since],
  )
  if (problem) return <Problem of={problem} />
  if (!value) return null
  return (
    <Table
      caption={`Usage by ${by}`}
      rows={value.rows.toSorted((one, other) => other.cost_nano - one.cost_nano || other.requests - one.requests)}
      keyOf={(row) => String(row[by])}
      file={`usage-by-${by}-${since}.csv`}
      columns={[
        { name: by, of: (row) => <ShareName row={row} by={by} since={since} />, value: (row) => nameOf(row, by) },
        ...sums,
      ]}
    />
  )
}

/** The name of a share, which leads to its requests; those of logins and of this machine are not told apart in the log. */
function ShareName({ row, by, since }: { readonly row: UsageRow; readonly by: Grouping; readonly since: string }) {
  const id = row[by]
  const name = nameOf(row, by)
  if (id == null) return <span class="line">{name}</span>
  return (
    <a class="line" href={requestsOf({ since, [by]: id })}>
      {name}
    </a>
  )
}

/** The link to requests of the log. */
function requestsOf(query: Readonly<Record<string, string>>): string {
  return linkWith(query, 'usage', 'requests')
}

/** The name of a share; without a plugin it is this machine, without a key a login. */
function nameOf(row: UsageRow, by: Grouping): string {
  if (by === 'plugin') return row.plugin ?? 'this machine'
  if (by === 'key') return row.key === null ? 'logins' : (row.key_name ?? row.key ?? '')
  if (by === 'user') return row.username ?? row.user ?? ''
  return row.model ?? ''
}
