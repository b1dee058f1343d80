import { printableLine } from '../../formats/formats.ts'
import type { Conversation } from './conversation.ts'

/** Characters of a name that comes from a question. */
const longestName = 48

/** Characters of a question that are looked at. */
const readLength = 1_000

/** A name for a conversation without a title: its time, and the beginning of its id. */
export function timeName(id: string, now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} ${id.slice(0, 4)}`
}

/** Whether a conversation has the name that its time gave it. */
export function hasTimeName({ id, name, created_at }: Pick<Conversation, 'id' | 'name' | 'created_at'>): boolean {
  return name === timeName(id, created_at)
}

/**
 * Names for a conversation that begins with this title, the best first. Names are unique: where the words are taken, its day
 * or its time stands behind them, and the last ones hold its id, so that one is free.
 */
export function namesOf(title: string, id: string, now: number): readonly string[] {
  const name = shortened(withoutFillers(title))
  if (name === '') return [timeName(id, now), id]
  const [, month, date] = new Date(now).toDateString().split(' ')
  const clock = new Date(now).toTimeString().slice(0, 8)
  const day = `${Number(date)} ${month}`
  const times = [day, `${day} ${clock.slice(0, 5)}`, `${day} ${clock}`].map((time) => `${name} (${time})`)
  return [name, ...times, `${name} ${id.slice(0, 8)}`, id]
}

/** Words before what a person asks, in any number. */
const fillers =
  /^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|please|kindly|(?:can|could|would|will) you|i (?:want|need|would like) you to|i'd like you to)(?:[\s,.!:;]+|$))+/i

/** The title from its first word on that says something; greetings alone stay. */
function withoutFillers(title: string): string {
  const text = title.slice(0, readLength).trim()
  const rest = text.replace(fillers, '')
  return rest === '' || rest === text ? text : rest.charAt(0).toUpperCase() + rest.slice(1)
}

/** The first words of the first line with any. */
function shortened(title: string): string {
  const text = printableLine(
    title
      .slice(0, readLength)
      .trim()
      .split(/[\r\n]+/)[0] ?? '',
  )
    .replace(/\s+/g, ' ')
    .trim()
  if (text.length <= longestName) return text
  const cut = text.slice(0, longestName)
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), 0))
  // A word, or a text without spaces, may be longer; half a character is none.
  const piece = words.length > longestName / 3 ? words : printableLine(cut)
  return `${piece.replace(/(?<![\s.,;:!?…-])[\s.,;:!?…-]+$/u, '')}…`
}
