import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../page/format.ts'
import { saveBlob } from '../wire/save.ts'
import { Button } from './button.tsx'
import { Pager } from './pager.tsx'

export interface Column<T> {
  readonly name: string
  readonly of: (row: T) => ComponentChildren
  /** The plain value of a cell, by which rows are sorted and filtered, and which a CSV file holds. */
  readonly value?: (row: T) => string | number | null | undefined
  /** Numbers stand at the right, below each other. */
  readonly isNumber?: boolean
  /** Left out of a table with many columns where the screen is not wide. */
  readonly isExtra?: boolean
  /** Holds one button and is no wider. */
  readonly isButton?: boolean
}

interface TableProps<T> {
  readonly caption: string
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  /** The name of a CSV file of the rows; without it none is offered. */
  readonly file?: string
  /** All columns but those of buttons are equally wide: tables below each other have them at the same places. */
  readonly isEven?: boolean
}

/** Rows from which a table has a filter, and rows of a page: a page is drawn within 100 ms. */
const filteredFrom = 12
const pageSize = 100

/** Columns from which on a table needs a wide screen for all of them. */
const manyColumns = 6

/** A table with a caption for screen readers, sortable; long ones have a filter and pages; cards up to 900 pixels. */
export function Table<T>({ caption, rows, keyOf, columns, file, isEven }: TableProps<T>) {
  const [order, setOrder] = useState<{ readonly name: string; readonly isDown: boolean }>()
  const [filter, setFilter] = useState('')
  const [page, setPage] = useState(0)
  const valued = columns.filter(({ value }) => value)
  const hasFilter = valued.length > 0 && rows.length >= filteredFrom
  const words = hasFilter ? filter.toLowerCase().split(/\s+/) : []
  const found = rows.filter((row) => {
    const text = valued
      .map(({ value }) => value!(row))
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const by = valued.find(({ name }) => name === order?.name)?.value
  const sign = order?.isDown ? -1 : 1
  const sorted = by ? found.toSorted((one, other) => sign * compare(by(one), by(other))) : found
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize))
  const first = Math.min(page, pages - 1) * pageSize
  return (
    <>
      {(hasFilter || file !== undefined) && (
        <div class="row between">
          {hasFilter && (
            <input
              class="input filter"
              type="search"
              aria-label={`Filter ${caption}`}
              placeholder="Filter"
              value={filter}
              onInput={({ currentTarget }) => setFilter(currentTarget.value)}
            />
          )}
          {hasFilter && found.length < rows.length && (
            <span class="muted">{`${count(found.length)} of ${count(rows.length)}`}</span>
          )}
          {file !== undefined && (
            <Button
              icon="download"
              onClick={() => saveBlob(new Blob([csvOf(sorted, valued)], { type: 'text/csv' }), file)}
            >
              CSV
            </Button>
          )}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="table-frame" tabIndex={0} aria-label={caption}>
        <table class={`table${isEven ? ' even' : ''}${columns.length > manyColumns ? ' many' : ''}`}>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, of: _, value, ...kind }) => (
                <th
                  key={name}
                  scope="col"
                  class={classOf(kind)}
                  aria-sort={order?.name === name ? (order.isDown ? 'descending' : 'ascending') : undefined}
                >
                  {value ? (
                    <button
                      type="button"
                      class="sort"
                      onClick={() =>
                        setOrder({ name, isDown: order?.name === name ? !order.isDown : kind.isNumber === true })
                      }
                    >
                      {name}
                    </button>
                  ) : (
                    name || <span class="unseen">Actions</span>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(first, first + pageSize).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ name, of, value: _, ...kind }) => (
                  <td key={name} class={classOf(kind)} data-name={name}>
                    {of(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Pager
        offset={first}
        size={pageSize}
        hasMore={first + pageSize < sorted.length}
        place={`${count(first + 1)}–${count(Math.min(first + pageSize, sorted.length))} of ${count(sorted.length)}`}
        onOffset={(offset) => setPage(offset / pageSize)}
      />
    </>
  )
}

type Value = string | number | null | undefined

/** Numbers by their size, texts as the person's language has them; what has no value stands first. */
function compare(one: Value, other: Value): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one ?? '').localeCompare(String(other ?? ''), undefined, { numeric: true })
}

/** Rows as CSV (RFC 4180). */
function csvOf<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ value }) => value!(row) ?? ''))]
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('')
}

/** Names of models and users are data: a spreadsheet must not take one for a formula. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function classOf({ isNumber, isExtra, isButton }: Omit<Column<never>, 'name' | 'of' | 'value'>): string {
  return [isNumber && 'number', isExtra && 'extra', isButton && 'of-button'].filter(Boolean).join(' ')
}
