import { type Metadata, speakerOf } from './memory.ts'
import { termsOf } from './ranking-terms.ts'

/** How many memories before and after one count as what was said around it. */
export const reach = 3

/** Memories further apart than this (milliseconds) are no part of one exchange, whatever conversation they belong to. */
export const gap = 3_600_000

/** A memory before (negative distance) or after another in the same conversation. */
export interface Neighbour {
  readonly distance: number
  readonly question: boolean
  /** Its terms, a space between them. */
  readonly terms: string
}

/** The terms of who said a memory and when; questions ask for both in words. */
export function aboutTerms(memory: { readonly timestamp: number; readonly metadata: Metadata }): string {
  return termsOf(`${speakerOf(memory.metadata)} ${dateText(memory.timestamp)}`).join(' ')
}

/** Whether a text asks for something; answers are remembered for what they say, questions rarely are. */
export function isQuestion(text: string): boolean {
  return /[?？؟]["'”’)\]]*\s*$/u.test(text)
}

/**
 * What stands around a memory as the text of the context column: a line per neighbour, which begins with one mark for each
 * step before (`<`) or after (`>`), and a `?` where that neighbour asks. The marks are no terms and are not indexed.
 */
export function writeContext(neighbours: readonly Neighbour[]): string {
  return neighbours
    .map(({ distance, question, terms }) => {
      const mark = (distance < 0 ? '<' : '>').repeat(Math.abs(distance)) + (question ? '?' : '')
      return `${mark} ${terms}`
    })
    .join('\n')
}

/** What the mark of a line of context says of that neighbour. @param mark what stands before the line's first space */
export function readMark(mark: string): Pick<Neighbour, 'distance' | 'question'> {
  const question = mark.endsWith('?')
  const steps = mark.length - Number(question)
  return { distance: mark.startsWith('<') ? -steps : steps, question }
}

const months = 'January February March April May June July August September October November December'.split(' ')

/** `8 May 2023`, in UTC so that the index does not depend on the machine's place. */
function dateText(timestamp: number): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime())
    ? ''
    : `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
