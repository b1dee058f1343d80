import jsonc from 'jsonc-parser'
import { type ConfigFormat, lineBreakOf } from './edits.ts'

const reading: jsonc.ParseOptions = { allowTrailingComma: true, disallowComments: false }

/** JSON with comments and trailing commas, as editors read it; an empty text is an empty object. */
export const jsonFormat: ConfigFormat = {
  parse(text) {
    if (text.trim() === '') return {}
    const errors: jsonc.ParseError[] = []
    const value: unknown = jsonc.parse(text, errors, reading)
    const [first] = errors
    if (first) throw new Error(`${jsonc.printParseErrorCode(first.error)} in line ${lineOf(text, first.offset)}`)
    return value
  },
  change(text, path, value) {
    const unit = unitOf(text)
    const formattingOptions = { insertSpaces: unit !== '\t', tabSize: unit.length, eol: lineBreakOf(text) }
    return jsonc.applyEdits(text, jsonc.modify(text, [...path], value, { formattingOptions }))
  },
}

/** The indentation of the first line that has one; without one two spaces. */
function unitOf(text: string): string {
  const indent = /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? '  '
  return indent.startsWith('\t') ? '\t' : indent
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
