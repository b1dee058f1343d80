import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../wire/use-action.ts'
import type { Data } from '../wire/use-data.ts'
import { Button, type ButtonProps } from './button.tsx'
import { Confirm } from './confirm.tsx'
import type { IconName } from './icon.tsx'
import { Empty, Loading, Problem } from './notice.tsx'
import { Section } from './page.tsx'
import { type Column, Table } from './table.tsx'
import { tell } from './toasts.tsx'

/** Something that can be done with a row, by a button at its end. */
interface RowAction<T> {
  readonly icon: IconName
  /** The name of the button, and the question before it: `Remove the model minilm`. */
  readonly label: (row: T) => string
  /** The rows that have it; by default all. */
  readonly isFor?: (row: T) => boolean
  readonly work: (row: T) => unknown
  /** Shown for some seconds once it is done, unless `work` resolves with another text. */
  readonly done?: string
  /** Asks before: with the word of the button that agrees, and what will happen. */
  readonly confirm?: readonly [submit: string, text: (row: T) => string]
}

interface ListingProps<T> {
  /** The heading, and the caption of the table. */
  readonly title: string
  readonly data: Omit<Data<readonly T[]>, 'replace'>
  readonly keyOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly actions?: readonly (RowAction<T> | false)[]
  /** A button above the list, with what it does. */
  readonly main?: Pick<ButtonProps, 'icon' | 'kind' | 'isDisabled'> & {
    readonly words: string
    readonly work: () => unknown
    readonly done?: string
  }
  readonly controls?: ComponentChildren
  /** Stands in place of an empty table: a title, and the next step. */
  readonly empty?: readonly [title: string, step?: string]
  readonly file?: string
  /** Remarks between the heading and the table. */
  readonly children?: ComponentChildren
}

/**
 * A list with what can be done with it and its rows: it shows its loading, its failure, its emptiness and the failure of an
 * action, asks before what cannot be taken back, and reads the list again after each action.
 */
export function Listing<T>({ title, data, columns, actions = [], main, empty, children, ...rest }: ListingProps<T>) {
  const [asked, setAsked] = useState<{ readonly action: RowAction<T>; readonly row: T }>()
  const perform = async (work: () => unknown, done?: string) => {
    const result = await work()
    const text = typeof result === 'string' ? result : done
    if (text !== undefined) tell(text)
    data.reload()
  }
  const running = useAction(perform)
  const { keyOf, controls, file } = rest
  const offered = actions.filter((action) => action !== false)
  const buttonsOf = (row: T) =>
    offered
      .filter(({ isFor }) => isFor?.(row) ?? true)
      .map((action) => (
        <Button
          key={action.icon}
          icon={action.icon}
          label={action.label(row)}
          isBusy={running.isRunning}
          onClick={() =>
            action.confirm ? setAsked({ action, row }) : void running.run(() => action.work(row), action.done)
          }
        />
      ))
  const last: Column<T> = { name: '', of: (row) => <div class="buttons end">{buttonsOf(row)}</div>, isNumber: true }
  const rows = data.value
  return (
    <Section
      title={title}
      actions={
        <>
          {controls}
          {main && (
            <Button {...main} isBusy={running.isRunning} onClick={() => void running.run(main.work, main.done)}>
              {main.words}
            </Button>
          )}
        </>
      }
    >
      {children}
      <Problem of={data.problem ?? running.problem} />
      {rows === undefined && !data.problem && <Loading />}
      {rows?.length === 0 && empty && <Empty title={empty[0]}>{empty[1] && <p>{empty[1]}</p>}</Empty>}
      {rows !== undefined && (rows.length > 0 || !empty) && (
        <Table
          caption={title}
          rows={rows}
          keyOf={keyOf}
          columns={offered.length > 0 ? [...columns, last] : columns}
          {...(file !== undefined && { file })}
        />
      )}
      {asked?.action.confirm && (
        <Confirm
          title={`${asked.action.label(asked.row)}?`}
          submit={asked.action.confirm[0]}
          work={() => perform(() => asked.action.work(asked.row), asked.action.done)}
          onClose={() => setAsked(undefined)}
        >
          {asked.action.confirm[1](asked.row)}
        </Confirm>
      )}
    </Section>
  )
}
