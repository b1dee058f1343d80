import jsonc from 'jsonc-parser'
import { type ConfigFormat, lineBreakOf } from './format.ts'

/** JSON with comments and trailing commas, as editors read it; an empty text is an empty object. */
export const jsonFormat: ConfigFormat = {
  parse(text) {
    if (text.trim() === '') return {}
    const errors: jsonc.ParseError[] = []
    const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: true, disallowComments: false })
    const [first] = errors
    if (first) throw new Error(`${jsonc.printParseErrorCode(first.error)} in line ${lineOf(text, first.offset)}`)
    return value
  },
  ways: [
    (text, path, value) => {
      const formattingOptions = { ...indentOf(text), eol: lineBreakOf(text) }
      const start = text.trim() === '' ? `{}${lineBreakOf(text)}` : text
      return jsonc.applyEdits(start, jsonc.modify(start, [...path], value, { formattingOptions }))
    },
  ],
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The indentation of the first line that has one; without one two spaces. */
function indentOf(text: string): { readonly insertSpaces: boolean; readonly tabSize: number } {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length }
}
