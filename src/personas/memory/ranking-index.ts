import { type Metadata, speakerOf } from './memory.ts'
import { termsOf } from './ranking-terms.ts'

/** The memories before and after one that count as its context. */
export const reach = 3

/** Milliseconds. Memories further apart are not each other's context, even in one conversation. */
export const gap = 3_600_000

/** A memory before (negative distance) or after another in the same conversation. */
export interface Neighbour {
  readonly distance: number
  readonly question: boolean
  /** Its terms, a space between them. */
  readonly terms: string
}

/** The terms of a memory's speaker and date, which questions ask for in words. */
export function aboutTerms(memory: { readonly timestamp: number; readonly metadata: Metadata }): string {
  return termsOf(`${speakerOf(memory.metadata)} ${dateText(memory.timestamp)}`).join(' ')
}

/** Whether a text is a question. */
export function isQuestion(text: string): boolean {
  return /[?？؟]["'”’)\]]*\s*$/u.test(text)
}

/**
 * The context column of a memory: a line per neighbour, which begins with one mark for each step before (`<`) or after (`>`),
 * and a `?` where that neighbour is a question. The marks are no terms and are not indexed.
 */
export function writeContext(neighbours: readonly Neighbour[]): string {
  return neighbours
    .map(({ distance, question, terms }) => {
      const mark = (distance < 0 ? '<' : '>').repeat(Math.abs(distance)) + (question ? '?' : '')
      return `${mark} ${terms}`
    })
    .join('\n')
}

/** Parses the mark of a line of context. @param mark the text before the line's first space */
export function readMark(mark: string): Pick<Neighbour, 'distance' | 'question'> {
  const question = mark.endsWith('?')
  const steps = mark.length - Number(question)
  return { distance: mark.startsWith('<') ? -steps : steps, question }
}

const months = 'January February March April May June July August September October November December'.split(' ')

/** `8 May 2023`, in UTC so that the index does not depend on the time zone. */
function dateText(timestamp: number): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime())
    ? ''
    : `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
