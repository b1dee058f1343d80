import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Select } from '../../components/field.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { day } from '../../page/format.ts'
import { linkTo, type ViewProps } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask } from '../../wire/client.ts'
import { save } from '../../wire/save.ts'
import type { Usage as Report } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'
import { Keys } from './keys/keys.tsx'
import { Budgets } from './limits/budgets.tsx'
import { Prices } from './prices.tsx'
import { Requests } from './requests.tsx'
import { Spend } from './spend.tsx'

const periods = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '12 months'],
] as const

type Days = (typeof periods)[number][0]

const parts = [
  ['spend', 'Spend'],
  ['requests', 'Requests'],
  ['budgets', 'Budgets and limits'],
  ['keys', 'API keys'],
  ['prices', 'Prices'],
] as const

/** Consumption and cost, the budgets, and the keys of programs. */
export function Usage({ route }: ViewProps) {
  const { isAdmin } = useSession()
  const [part = 'spend'] = route.rest
  const [days, setDays] = useState<Days>('30')
  return (
    <Page title="Usage" lead={isAdmin ? 'Of all users' : 'Of your own requests'}>
      <Tabs label="Parts of usage" tabs={parts.map(([name, title]) => [linkTo('usage', name), title, name === part])} />
      {part === 'spend' && <SpendPart days={days} onDays={setDays} />}
      {part === 'requests' && <Requests query={route.query} />}
      {part === 'budgets' && <Budgets />}
      {part === 'keys' && <Keys />}
      {part === 'prices' && <Prices />}
    </Page>
  )
}

function SpendPart({ days, onDays }: { readonly days: Days; readonly onDays: (days: Days) => void }) {
  const since = dayBefore(Number(days) - 1)
  const byDay = useData<Report>((signal) => ask('GET', '/api/usage', { query: { by: 'day', since }, signal }), [since])
  const download = useAction(() => save('GET', '/api/usage/export', 'usage.csv', { query: { format: 'csv', since } }))
  return (
    <>
      <div class="row between">
        <Select label="Period" value={days} options={periods} onInput={onDays} />
        <Button icon="download" isBusy={download.isRunning} onClick={() => void download.run()}>
          All requests as CSV
        </Button>
      </div>
      <Problem of={byDay.problem ?? download.problem} />
      {byDay.value && (
        <p class="muted">
          {day(byDay.value.since)} to {day(byDay.value.until)}, days of {byDay.value.timezone}
        </p>
      )}
      {byDay.value && <Spend byDay={byDay.value} since={since} />}
    </>
  )
}

/** The day so many days ago, as the ledger names it. */
function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toLocaleDateString('sv')
}
