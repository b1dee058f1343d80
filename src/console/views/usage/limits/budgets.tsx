import { useState } from 'preact/hooks'
import { Badge } from '../../../components/badge.tsx'
import { textColumn } from '../../../components/columns.tsx'
import { Listing } from '../../../components/listing.tsx'
import { ago, count, dateTime, dollars, percent } from '../../../page/format.ts'
import { useSession } from '../../../page/session.ts'
import { ask, path } from '../../../wire/client.ts'
import type { Limit } from '../../../wire/types.ts'
import { useList } from '../../../wire/use-data.ts'
import { LimitDialog } from './limit-dialog.tsx'

/** Budgets with the amounts left, and limits of requests and tokens: those nearest to their end first. */
export function Budgets() {
  const { isAdmin } = useSession()
  const [dialog, setDialog] = useState<Limit | 'new'>()
  const data = useList<Limit>('/api/limits', 'limits', {}, 10_000)
  return (
    <>
      <Listing<Limit>
        title="Budgets and limits"
        data={{ ...data, value: data.value?.toSorted((one, other) => shareOf(other) - shareOf(one)) }}
        keyOf={({ subject }) => subject}
        {...(isAdmin && { main: { icon: 'add', kind: 'main', words: 'New limit', work: () => setDialog('new') } })}
        empty={['Nothing is limited', 'Limits hold for a key, a user, a plugin, or the whole installation.']}
        columns={[
          textColumn('For', subjectInWords),
          {
            name: 'Budgets',
            of: ({ budgets }) => (
              <div class="budgets">
                {budgets.map((budget) => (
                  <Budget key={budget.period + budget.timezone} budget={budget} />
                ))}
              </div>
            ),
            value: shareOf,
          },
          { name: 'Limits', of: (limit) => ratesOf(limit).join(' · '), value: (limit) => ratesOf(limit).join(' ') },
        ]}
        actions={[
          isAdmin && { icon: 'edit', label: (limit) => `Edit the limits of ${subjectInWords(limit)}`, work: setDialog },
          isAdmin && {
            icon: 'refresh',
            label: (limit) => `Begin the budgets of ${subjectInWords(limit)} anew`,
            isFor: ({ budgets }) => budgets.length > 0,
            work: ({ subject }) => ask('POST', path`/api/limits/${subject}/reset`, { body: {} }),
            confirm: ['Begin anew', () => 'What was spent of them until now counts no more; the usage keeps it.'],
          },
          isAdmin && {
            icon: 'trash',
            label: (limit) => `Remove the limits of ${subjectInWords(limit)}`,
            work: ({ subject }) => ask('DELETE', path`/api/limits/${subject}`),
            confirm: ['Remove', () => 'Requests go through without them from now on.'],
          },
        ]}
      />
      {dialog && (
        <LimitDialog
          {...(dialog !== 'new' && { limit: dialog })}
          onClose={() => setDialog(undefined)}
          onSaved={data.reload}
        />
      )}
    </>
  )
}

/** The largest share of its budgets that is spent: those near their end stand first. */
function shareOf({ budgets }: Limit): number {
  return Math.max(
    -1,
    ...budgets.map(
      ({ amount_usd, spent_usd, reserved_usd }) => (Number(spent_usd) + Number(reserved_usd)) / Number(amount_usd),
    ),
  )
}

function Budget({ budget }: { readonly budget: Limit['budgets'][number] }) {
  const { amount_usd, spent_usd, reserved_usd, period, hard, warning, resets_at } = budget
  const [amount, used] = [Number(amount_usd), Number(spent_usd) + Number(reserved_usd)]
  const share = amount > 0 ? used / amount : 1
  return (
    <div class="budget">
      <p class="row between">
        <strong>
          {dollars(Math.max(0, amount - used))} left of {dollars(amount)} a {period}
        </strong>
        {share >= 1 ? (
          <Badge tone="bad">spent</Badge>
        ) : warning ? (
          <Badge tone="warning">{percent(share)}</Badge>
        ) : (
          <Badge tone="good">{percent(share)}</Badge>
        )}
      </p>
      <meter
        value={Math.min(1, share)}
        high={0.8}
        optimum={0}
        aria-label={`${percent(share)} of the budget is spent`}
      />
      <p class="muted" title={dateTime(resets_at)}>
        begins anew {ago(resets_at)}
        {hard && '; streams are cut when it is spent'}
      </p>
    </div>
  )
}

const kinds: Readonly<Record<string, string>> = { user: 'User', plugin: 'Plugin', key: 'Key' }

/** The subject of a limit, in words; a key by its name. */
function subjectInWords({ subject, name }: Limit): string {
  if (subject === 'all') return 'The whole installation'
  const [kind = '', ...rest] = subject.split(':')
  const id = rest.join(':')
  return `${kinds[kind] ?? kind} ${name ?? id}`
}

/** The limits of requests and tokens in words. */
export function ratesOf({ rpm, rpd, tpm, tpd, parallel }: Limit): readonly string[] {
  const rates = [
    [rpm, 'requests a minute'],
    [rpd, 'requests a day'],
    [tpm, 'tokens a minute'],
    [tpd, 'tokens a day'],
    [parallel, 'requests at the same time'],
  ] as const
  return rates.flatMap(([value, name]) => (value === undefined ? [] : [`${count(value)} ${name}`]))
}
