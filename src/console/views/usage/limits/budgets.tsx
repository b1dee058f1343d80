import { useState } from 'preact/hooks'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Confirm } from '../../../components/confirm.tsx'
import { Empty, Problem } from '../../../components/notice.tsx'
import { Section } from '../../../components/page.tsx'
import { ago, count, dateTime, dollars, percent } from '../../../page/format.ts'
import { useSession } from '../../../page/session.ts'
import { ask, path } from '../../../wire/client.ts'
import type { Limit } from '../../../wire/types.ts'
import { useData } from '../../../wire/use-data.ts'
import { LimitDialog } from './limit-dialog.tsx'

/** Budgets with the amounts left, and limits of requests and tokens. */
export function Budgets() {
  const { isAdmin } = useSession()
  const [dialog, setDialog] = useState<Limit | 'new'>()
  const [removed, setRemoved] = useState<Limit>()
  const data = useData<{ limits: readonly Limit[] }>((signal) => ask('GET', '/api/limits', { signal }), [], 10_000)
  const limits = data.value?.limits.toSorted((one, other) => shareOf(other) - shareOf(one)) ?? []
  return (
    <Section
      title="Budgets and limits"
      actions={
        isAdmin && (
          <Button kind="main" icon="add" onClick={() => setDialog('new')}>
            New limit
          </Button>
        )
      }
    >
      <Problem of={data.problem} />
      {data.value && limits.length === 0 && (
        <Empty title="Nothing is limited">
          <p>Limits hold for a key, a user, a plugin, or the whole installation.</p>
        </Empty>
      )}
      <ul class="cards">
        {limits.map((limit) => (
          <li key={limit.subject} class="card limit">
            <h3 class="text">{subjectInWords(limit)}</h3>
            <div class="budgets">
              {limit.budgets.map((budget) => (
                <Budget key={budget.period + budget.timezone} budget={budget} />
              ))}
              {ratesOf(limit).length > 0 && <p class="muted">{ratesOf(limit).join(' · ')}</p>}
            </div>
            {isAdmin && (
              <div class="buttons">
                <Button icon="edit" onClick={() => setDialog(limit)}>
                  Edit
                </Button>
                <Button
                  icon="trash"
                  label={`Remove the limits of ${limit.name ?? limit.subject}`}
                  onClick={() => setRemoved(limit)}
                />
              </div>
            )}
          </li>
        ))}
      </ul>
      {dialog && (
        <LimitDialog
          {...(dialog !== 'new' && { limit: dialog })}
          onClose={() => setDialog(undefined)}
          onSaved={data.reload}
        />
      )}
      {removed && (
        <Confirm
          title={`Remove the limits of ${removed.name ?? removed.subject}?`}
          submit="Remove"
          work={() => ask('DELETE', path`/api/limits/${removed.subject}`)}
          onDone={data.reload}
          onClose={() => setRemoved(undefined)}
        >
          Requests go through without them from now on.
        </Confirm>
      )}
    </Section>
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
