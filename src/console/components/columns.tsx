import { count } from '../page/format.ts'
import { Badge, type Tone } from './badge.tsx'
import type { Column } from './table.tsx'
import { Time } from './time.tsx'

type More<T> = Partial<Pick<Column<T>, 'isExtra' | 'value'>>

/** A column of texts on one line, which rows are sorted and filtered by. */
export function textColumn<T>(
  name: string,
  value: (row: T) => string | null | undefined,
  more: More<T> = {},
): Column<T> {
  return { name, of: (row) => <span class="line">{value(row)}</span>, value, ...more }
}

/** A column of numbers; a cell without one is empty. */
export function numberColumn<T>(
  name: string,
  value: (row: T) => number | null | undefined,
  format: (value: number) => string = count,
  more: More<T> = {},
): Column<T> {
  const shown = (number: number | null | undefined) => (number == null ? '' : format(number))
  return { name, of: (row) => shown(value(row)), value, isNumber: true, ...more }
}

/** A column of moments (milliseconds since 1970 UTC); `none` stands where there is none. */
export function timeColumn<T>(
  name: string,
  value: (row: T) => number | null | undefined,
  none = 'never',
  more: More<T> = {},
): Column<T> {
  const shown = (at: number | null | undefined) => (at == null ? <span class="muted">{none}</span> : <Time at={at} />)
  return { name, of: (row) => shown(value(row)), value: (row) => value(row) ?? 0, ...more }
}

/** A column of states in a word. */
export function stateColumn<T, S extends string>(
  name: string,
  value: (row: T) => S,
  tones: Readonly<Partial<Record<S, Tone>>>,
  more: More<T> = {},
): Column<T> {
  return { name, of: (row) => <Badge tone={tones[value(row)] ?? 'plain'}>{value(row)}</Badge>, value, ...more }
}
