import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly name: string
  readonly of: (row: T) => ComponentChildren
  /** Numbers stand at the right, below each other. */
  readonly isNumber?: boolean
  /** Left out on narrow screens. */
  readonly isExtra?: boolean
}

interface TableProps<T> {
  readonly caption: string
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly foot?: ComponentChildren
}

/** A table with a caption for screen readers; wide ones scroll inside their frame. */
export function Table<T>({ caption, rows, keyOf, columns, foot }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isExtra }) => (
              <th key={name} scope="col" class={classOf(isNumber, isExtra)}>
                {name || <span class="unseen">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, of, isNumber, isExtra }) => (
                <td key={name} class={classOf(isNumber, isExtra)}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </section>
  )
}

function classOf(isNumber: boolean | undefined, isExtra: boolean | undefined): string {
  return `${isNumber ? 'number' : ''}${isExtra ? ' extra' : ''}`
}
