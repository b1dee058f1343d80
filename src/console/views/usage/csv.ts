import type { UsageRow } from '../../wire/types.ts'

const fields = [
  'requests',
  'failed',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_usd',
] as const

/** Rows of usage as CSV (RFC 4180), with the column that they are grouped by first. */
export function csvOf(rows: readonly UsageRow[], by: 'day' | 'model' | 'plugin' | 'key' | 'user'): string {
  const lines = rows.map((row) => [row[by] ?? '', ...fields.map((field) => row[field])])
  return [[by, ...fields], ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('')
}

/** Names of models and users are data: a spreadsheet must not take one for a formula. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
