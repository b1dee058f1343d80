import { printableLine } from '../../formats/formats.ts'

/** Characters of a name that comes from a question. */
const longestName = 48

/** Characters of a question that are looked at. */
const readLength = 1_000

/** A name for a conversation without a title: its time, and the beginning of its id. */
export function timeName(id: string, now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} ${id.slice(0, 4)}`
}

/** Names for a conversation that begins with this title, the best first; the last ones hold its id, so that one is free. */
export function namesOf(title: string, id: string, now: number): readonly string[] {
  const name = shortened(title)
  if (name === '') return [timeName(id, now), id]
  const numbered = Array.from({ length: 8 }, (_, at) => `${name} ${at + 2}`)
  return [name, ...numbered, `${name} ${id.slice(0, 8)}`, id]
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
