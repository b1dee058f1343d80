import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly name: string
  readonly of: (row: T) => ComponentChildren
  /** Numbers stand at the right, below each other. */
  readonly isNumber?: boolean
  /** Left out on narrow screens. */
  readonly isExtra?: boolean
  /** Holds one button and is no wider. */
  readonly isButton?: boolean
}

interface TableProps<T> {
  readonly caption: string
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly foot?: ComponentChildren
  /** All columns but those of buttons are equally wide: tables below each other have them at the same places. */
  readonly isEven?: boolean
}

/** A table with a caption for screen readers; wide ones scroll inside their frame. */
export function Table<T>({ caption, rows, keyOf, columns, foot, isEven }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class={isEven ? 'table even' : 'table'}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, ...kind }) => (
              <th key={name} scope="col" class={classOf(kind)}>
                {name || <span class="unseen">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, of, ...kind }) => (
                <td key={name} class={classOf(kind)}>
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

function classOf({ isNumber, isExtra, isButton }: Omit<Column<never>, 'name' | 'of'>): string {
  return [isNumber && 'number', isExtra && 'extra', isButton && 'of-button'].filter(Boolean).join(' ')
}
