import { useState } from 'preact/hooks'
import { Badge, type Tone } from '../../components/badge.tsx'
import { numberColumn, textColumn } from '../../components/columns.tsx'
import { Select } from '../../components/field.tsx'
import { Listing } from '../../components/listing.tsx'
import { Pager } from '../../components/pager.tsx'
import type { Column } from '../../components/table.tsx'
import { count, dateTime, dollars, duration } from '../../page/format.ts'
import { linkTo, linkWith } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask } from '../../wire/client.ts'
import type { Usage, UsageAttempts } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'

type Attempt = UsageAttempts['attempts'][number]
type Options = readonly (readonly [value: string, name: string])[]

/** A day, within which a request ends: milliseconds. */
const dayMs = 86_400_000

/** Attempts of one page. */
const pageSize = 100

const outcomes: Options = [
  ['', 'Any'],
  ['answered', 'answered'],
  ['failed,broken', 'failed or broken off'],
  ['cancelled', 'cancelled by the caller'],
]

const periods: Options = [
  ['1h', 'Last hour'],
  ['1d', 'Last day'],
  ['7d', 'Last 7 days'],
  ['', 'Last 30 days'],
  ['365d', 'Last 12 months'],
]

const tones: Readonly<Record<Attempt['outcome'], Tone>> = {
  answered: 'good',
  failed: 'bad',
  broken: 'bad',
  cancelled: 'plain',
}

/** The request log of the ledger, which lasts: its filters are the address, so that any number can lead to its requests. */
export function Requests({ query }: { readonly query: URLSearchParams }) {
  const filter = Object.fromEntries(query)
  const address = String(query)
  const [{ of, offset }, setPage] = useState({ of: address, offset: 0 })
  const from = of === address ? offset : 0
  const data = useData<UsageAttempts>(
    (signal) => ask('GET', '/api/usage/attempts', { query: { ...filter, limit: pageSize, offset: from }, signal }),
    [address, from],
  )
  const { isAdmin } = useSession()
  return (
    <>
      <Listing<Attempt>
        title="Requests to models"
        data={{ ...data, value: data.value?.attempts }}
        keyOf={({ request, attempt }) => `${request} ${attempt}`}
        empty={['No request matches', 'Choose another time, or leave out a filter.']}
        file="requests.csv"
        columns={isAdmin ? columns : columns.filter(({ name }) => name !== 'User')}
      >
        <Filters filter={filter} />
      </Listing>
      <Pager
        offset={from}
        size={pageSize}
        hasMore={data.value?.more ?? false}
        place={`from ${count(from + 1)} on`}
        onOffset={(next) => setPage({ of: address, offset: next })}
      />
    </>
  )
}

const columns: readonly Column<Attempt>[] = [
  {
    name: 'Ended',
    of: (row) => (
      <a class="nowrap" href={linkWith({ request: row.request, since: row.at - dayMs }, 'usage', 'requests')}>
        {dateTime(row.at)}
      </a>
    ),
    value: ({ at }) => new Date(at).toISOString(),
  },
  {
    name: 'Outcome',
    of: ({ outcome, attempt, reason }) => (
      <span class="row">
        <Badge tone={tones[outcome]}>{outcome}</Badge>
        {attempt > 1 && <Badge>{`attempt ${attempt}`}</Badge>}
        {reason !== null && <span class="muted">{reason.replace('_', ' ')}</span>}
      </span>
    ),
    value: ({ outcome }) => outcome,
  },
  { name: 'Model', of: placeOf, value: placeOf },
  textColumn('For', ({ purpose }) => purpose.replace('_', ' '), { isExtra: true }),
  textColumn('User', userOf),
  { name: 'Key', of: keyOf, value: keyOf },
  {
    ...numberColumn<Attempt>('Tokens in', ({ input_tokens }) => input_tokens),
    of: ({ input_tokens, estimated }) => `${estimated ? '≈ ' : ''}${count(input_tokens)}`,
  },
  {
    ...numberColumn<Attempt>('Out', ({ output_tokens }) => output_tokens),
    of: ({ output_tokens, estimated }) => `${estimated ? '≈ ' : ''}${count(output_tokens)}`,
  },
  numberColumn('First content', ({ first_ms }) => first_ms, duration, { isExtra: true }),
  numberColumn('Took', ({ duration_ms }) => duration_ms, duration, { isExtra: true }),
  {
    ...numberColumn<Attempt>('Cost', ({ cost_usd }) => (cost_usd === null ? null : Number(cost_usd))),
    of: ({ cost_usd }) => (cost_usd === null ? 'unknown' : dollars(Number(cost_usd))),
  },
]

function placeOf({ plugin, model }: Attempt): string {
  return plugin === null ? model : `${plugin}: ${model}`
}

function userOf({ user, username }: Attempt): string {
  return username ?? user
}

function keyOf({ key, key_name: name }: Attempt): string {
  return name ?? key ?? ''
}

/** The filters; users, keys, models and plugins are those that the ledger knows of the time. */
function Filters({ filter }: { readonly filter: Readonly<Record<string, string>> }) {
  const { isAdmin } = useSession()
  const { since = '', until = '' } = filter
  const known = useData<Usage>(
    (signal) => ask('GET', '/api/usage', { query: { by: 'user,key,plugin,model', since: '365d' }, signal }),
    [],
  )
  const rows = known.value?.rows ?? []
  const choose = (name: string) => (value: string) => {
    location.hash = linkWith({ ...filter, [name]: value }, 'usage', 'requests')
  }
  const among = (name: 'user' | 'key' | 'plugin' | 'model', label: string) => {
    const names = new Map(rows.map((row) => [row[name], nameOf(row, name)]))
    const given = filter[name]
    if (given !== undefined && !names.has(given)) names.set(given, given)
    const options = [...names].flatMap(([id, title]) => (id == null ? [] : [[id, title] as const]))
    return <Select label={label} value={given ?? ''} options={[['', 'Any'], ...options]} onInput={choose(name)} />
  }
  const isOwnTime = until !== '' || !periods.some(([value]) => value === since)
  return (
    <div class="row filters">
      {filter['request'] !== undefined && <a href={linkTo('usage', 'requests')}>All requests</a>}
      <Select
        label="When"
        value={isOwnTime ? `${since} ${until}` : since}
        options={isOwnTime ? [[`${since} ${until}`, timeOf(since, until)], ...periods] : periods}
        onInput={(value) => {
          location.hash = linkWith({ ...filter, since: value, until: '' }, 'usage', 'requests')
        }}
      />
      <Select label="Outcome" value={filter['outcome'] ?? ''} options={outcomes} onInput={choose('outcome')} />
      {among('model', 'Model')}
      {among('plugin', 'Plugin')}
      {isAdmin && among('user', 'User')}
      {among('key', 'Key')}
    </div>
  )
}

function nameOf(row: Usage['rows'][number], name: 'user' | 'key' | 'plugin' | 'model'): string {
  const title = name === 'user' ? row.username : name === 'key' ? row.key_name : undefined
  return title ?? row[name] ?? ''
}

/** A time that a link chose: days, or moments in milliseconds. */
function timeOf(since: string, until: string): string {
  const [first, last] = [since, until].map((text) => (/^\d{6,15}$/.test(text) ? dateTime(Number(text)) : text))
  if (first === last) return `On ${first}`
  return last === '' ? `Since ${first}` : `${first || 'the beginning'} to ${last}`
}
