import { escapedJson } from '../../../formats/formats.ts'

/**
 * A text between `<file path="…">` and `</file>`, so that a model can tell the files apart and name them. Beginnings of such
 * tags within the text are written with `&lt;`: no file can end itself, or pass for another.
 */
export function delimited(attributes: Readonly<Record<string, string | undefined>>, text: string): string {
  const inside = text.replace(/<(?=\s*(?:\/\s*)?file\b)/gi, '&lt;')
  return `${fileTag(attributes)}\n${inside}${inside.endsWith('\n') ? '' : '\n'}</file>`
}

/** The tag that begins a file; for a picture it stands before it. */
export function fileTag(attributes: Readonly<Record<string, string | undefined>>, isEmpty = false): string {
  const written = Object.entries(attributes)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => ` ${name}="${attributeText(value)}"`)
  return `<file${written.join('')}${isEmpty ? '/' : ''}>`
}

/** A name of one line that shows all it holds: line breaks, control and invisible characters become escapes. */
export function shownName(name: string): string {
  return escapedJson(name).replace(/[\t\n\r]/g, (character) => JSON.stringify(character).slice(1, -1))
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function attributeText(value: string): string {
  return shownName(value).replace(/[&<>"]/g, (character) => entities[character]!)
}
