import { columnCounter } from '../terminal/table.ts'

/** The words that can replace the text between `from` and the cursor. */
export interface Completion {
  readonly from: number
  readonly words: readonly CompletedWord[]
}

export interface CompletedWord {
  readonly text: string
  /** As it is listed, where that differs. */
  readonly shown?: string
  /** Whether more may follow it, so that no space is added. */
  readonly goesOn?: boolean
}

/** Finds the words for a line that is typed as far as the cursor. */
export type Complete = (typed: string, signal: AbortSignal) => Promise<Completion>

/** The text that all words begin with. */
export function commonBeginning(words: readonly CompletedWord[]): string {
  const [first, ...rest] = words.map(({ text }) => [...text])
  if (!first) return ''
  const end = first.findIndex((character, at) => rest.some((other) => other[at] !== character))
  return (end === -1 ? first : first.slice(0, end)).join('')
}

const mostShown = 100

/** The words in columns, as a shell lists them. */
export async function listed(words: readonly CompletedWord[], columns: number): Promise<readonly string[]> {
  const names = words.slice(0, mostShown).map(({ text, shown }) => shown ?? text)
  const width = await columnCounter(names)
  const widest = Math.max(...names.map(width)) + 2
  const perRow = Math.max(1, Math.floor(columns / widest))
  const rows = Math.ceil(names.length / perRow)
  const lines = Array.from({ length: rows }, (_, row) =>
    names
      .filter((_name, at) => at % rows === row)
      .map((name) => name + ' '.repeat(widest - width(name)))
      .join('')
      .trimEnd(),
  )
  return words.length > mostShown ? [...lines, `and ${words.length - mostShown} more`] : lines
}
