import { Check, Select, TextField } from '../../../components/field.tsx'
import { dollars } from '../../../page/format.ts'
import type { Limit } from '../../../wire/types.ts'

const rates = [
  ['rpm', 'Requests a minute'],
  ['tpm', 'Tokens a minute'],
  ['rpd', 'Requests a day'],
  ['tpd', 'Tokens a day'],
  ['parallel', 'At the same time'],
] as const

type Period = Limit['budgets'][number]['period']

/** Limits as they are in the fields of a form; an empty one limits nothing. */
export interface LimitTexts extends Readonly<Record<(typeof rates)[number][0], string>> {
  readonly amount: string
  readonly period: Period
  readonly hard: boolean
  /** Values without a field in the form, kept as they are: parts of the first budget, and further budgets. */
  readonly kept: { readonly timezone?: string; readonly warn?: number }
  readonly others: Limit['budgets']
}

/** The fields of a form for these limits. */
export function limitTexts(limit?: Limit): LimitTexts {
  const [budget] = limit?.budgets ?? []
  const text = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    rpm: text(limit?.rpm),
    rpd: text(limit?.rpd),
    tpm: text(limit?.tpm),
    tpd: text(limit?.tpd),
    parallel: text(limit?.parallel),
    amount: budget?.amount_usd ?? '',
    period: budget?.period ?? 'month',
    hard: budget?.hard ?? true,
    kept: budget ? { timezone: budget.timezone, warn: budget.warn } : {},
    others: limit?.budgets.slice(1) ?? [],
  }
}

/** The fields of a form in which these were filled in for a subject that has limits already. */
export function mergedTexts(typed: LimitTexts, limit: Limit): LimitTexts {
  const was = limitTexts(limit)
  const given = rates.filter(([rate]) => typed[rate].trim() !== '').map(([rate]) => [rate, typed[rate]])
  const merged: LimitTexts = { ...was, ...Object.fromEntries(given) }
  if (typed.amount.trim() === '') return merged
  const { amount, period } = typed
  const same = limit.budgets.find((budget) => budget.period === period)
  // A box that stands as in an empty form was not chosen.
  const hard = same && typed.hard === limitTexts().hard ? same.hard : typed.hard
  const kept = same ? { timezone: same.timezone, warn: same.warn } : {}
  return { ...merged, amount, period, hard, kept, others: limit.budgets.filter((budget) => budget !== same) }
}

/** A change for the API from one form to another: fields that were not touched stay as they are there. */
export function limitChange(before: LimitTexts, after: LimitTexts): Record<string, unknown> {
  const [was, now] = [limitsFrom(before), limitsFrom(after)]
  const touched = Object.keys({ ...was, ...now }).filter(
    (name) => JSON.stringify(was[name]) !== JSON.stringify(now[name]),
  )
  return Object.fromEntries(touched.map((name) => [name, now[name] ?? (name === 'budgets' ? [] : null)]))
}

/** The body for the API; the server checks it. */
export function limitsFrom({ amount, period, hard, kept, others, ...texts }: LimitTexts): Record<string, unknown> {
  const given = rates
    .filter(([rate]) => texts[rate].trim() !== '')
    // The server refuses what is no number; null would take the limit away.
    .map(([rate]) => [rate, Number.isFinite(Number(texts[rate])) ? Number(texts[rate]) : texts[rate]])
  const budgets = [
    ...(amount.trim() === '' ? [] : [{ ...kept, amount_usd: amount.trim(), period, hard }]),
    ...others.map(({ amount_usd, period, timezone, hard, warn }) => ({ amount_usd, period, timezone, hard, warn })),
  ]
  return { ...Object.fromEntries(given), ...(budgets.length > 0 && { budgets }) }
}

/** Whether anything is limited. */
export function isLimited(texts: LimitTexts): boolean {
  return Object.keys(limitsFrom(texts)).length > 0
}

interface LimitFieldsProps {
  readonly texts: LimitTexts
  readonly onInput: (texts: LimitTexts) => void
}

export function LimitFields({ texts, onInput }: LimitFieldsProps) {
  return (
    <>
      <div class="fields">
        <TextField
          label="Budget in US dollars"
          inputMode="decimal"
          value={texts.amount}
          onInput={(amount) => onInput({ ...texts, amount })}
        />
        <Select
          label="Each"
          value={texts.period}
          onInput={(period) => onInput({ ...texts, period })}
          options={[
            ['day', 'day'],
            ['week', 'week'],
            ['month', 'month'],
          ]}
        />
      </div>
      {texts.others.length > 0 && (
        <p class="muted">
          It also has{' '}
          {texts.others.map(({ amount_usd, period }) => `${dollars(Number(amount_usd))} a ${period}`).join(', ')}
        </p>
      )}
      <Check
        label="Cut a stream that runs over the budget"
        isOn={texts.hard}
        onInput={(hard) => onInput({ ...texts, hard })}
      />
      <div class="fields">
        {rates.map(([rate, name]) => (
          <TextField
            key={rate}
            label={name}
            inputMode="numeric"
            value={texts[rate]}
            onInput={(text) => onInput({ ...texts, [rate]: text })}
          />
        ))}
      </div>
    </>
  )
}
