import { print } from '../parts/figures.ts'

/** A row of the table of aims. */
export interface Row {
  readonly what: string
  readonly figure: string
  readonly aim: string
  /** What failed, a line for each. */
  readonly missed?: readonly string[]
}

/** Prints the table, and below it what was missed of each row. */
export function printAims(rows: readonly Row[]): void {
  print('\n| | measured | aim |\n|---|---|---|')
  for (const { what, figure, aim } of rows) print(`| ${what} | ${figure} | ${aim} |`)
  for (const { what, missed = [] } of rows) {
    if (missed.length > 0) print(`\nmissed, ${what}:`)
    for (const line of missed) print(`  ${line}`)
  }
}
