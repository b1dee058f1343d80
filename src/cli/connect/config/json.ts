import jsonc from 'jsonc-parser'
import { type ConfigFormat, lineBreakOf, type Path } from './format.ts'

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
  ways: [
    changeLines,
    // Reads more shapes, and formats the neighbours of a change as well.
    (text, path, value) => {
      const unit = unitOf(text)
      const formattingOptions = { insertSpaces: unit !== '\t', tabSize: unit.length, eol: lineBreakOf(text) }
      const edits = jsonc.modify(text, [...path], value, { formattingOptions })
      return jsonc.applyEdits(text, edits)
    },
  ],
}

/** Changes the lines of one value alone; undefined where a list or a value that is no object is in the way. */
function changeLines(text: string, path: Path, value: unknown): string | undefined {
  if (text.trim() === '') return `${pretty(text, withParents(path, value), 0)}${lineBreakOf(text)}`
  let node = jsonc.parseTree(text, [], reading)
  for (const [depth, step] of path.entries()) {
    if (node?.type !== 'object') return undefined
    const property = node.children?.findLast(({ children }) => children?.[0]?.value === step)
    if (!property) return value === undefined ? text : insert(text, node, depth, withParents(path.slice(depth), value))
    if (depth === path.length - 1 && value === undefined) return remove(text, node, property)
    node = property.children?.[1]
  }
  if (!node) return undefined
  return `${text.slice(0, node.offset)}${pretty(text, value, path.length)}${text.slice(endOf(node))}`
}

/** Adds the one property of an object behind the last of another, on a line of its own where those are on several. */
function insert(text: string, parent: jsonc.Node, depth: number, addition: unknown): string {
  const [lineBreak, close, last] = [lineBreakOf(text), endOf(parent) - 1, parent.children?.at(-1)]
  const outer = unitOf(text).repeat(depth)
  // Without the braces of the addition itself.
  const lines = pretty(text, addition, depth).slice(1, -1).trim()
  const start = last ? endOf(last) : parent.offset + 1
  const between = text.slice(start, close)
  const hasComma = last !== undefined && commaIn(between) >= 0
  if (last && !text.slice(parent.offset, close).includes('\n')) {
    const line = JSON.stringify(addition).slice(1, -1)
    return `${text.slice(0, start)}${hasComma ? between.trimEnd() : `,${between.trimEnd()}`} ${line}${between.slice(between.trimEnd().length)}${text.slice(close)}`
  }
  const before = `${text.slice(0, start)}${last && !hasComma ? ',' : ''}${between.trimEnd()}`
  const after = last ? between.slice(between.trimEnd().length) : `${lineBreak}${outer}`
  return `${before}${lineBreak}${outer}${unitOf(text)}${lines}${hasComma ? ',' : ''}${after}${text.slice(close)}`
}

/** Removes a property with its line, and the comma that separated it. */
function remove(text: string, parent: jsonc.Node, property: jsonc.Node): string {
  const siblings = parent.children ?? []
  const at = siblings.indexOf(property)
  const [before, next] = [siblings[at - 1], siblings[at + 1]]
  const behind = endOf(property)
  const comma = commaIn(text.slice(behind, next ? next.offset : endOf(parent) - 1))
  const end = comma < 0 ? behind : behind + comma + 1
  const lineStart = text.lastIndexOf('\n', property.offset - 1) + 1
  const hasLine = /^[ \t]*$/.test(text.slice(lineStart, property.offset))
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0]
  const [from, to] =
    hasLine && rest !== undefined ? [lineStart, end + rest.length] : [property.offset, next ? next.offset : end]
  const kept = `${text.slice(0, from)}${text.slice(to)}`
  if (comma >= 0 || !before) return kept
  const single = endOf(before) + commaIn(text.slice(endOf(before), property.offset))
  return `${kept.slice(0, single)}${kept.slice(single + 1)}`
}

/** The place of the comma that comes first in a text of comments and white space; -1 where there is none. */
function commaIn(text: string): number {
  const scanner = jsonc.createScanner(text, true)
  return scanner.scan() === jsonc.SyntaxKind.CommaToken ? scanner.getTokenOffset() : -1
}

/** The object that has a value at a path. */
function withParents(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, step) => ({ [step]: inner }), value)
}

/** A value in lines, indented for its depth. */
function pretty(text: string, value: unknown, depth: number): string {
  const unit = unitOf(text)
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineBreakOf(text)}${unit.repeat(depth)}`)
}

/** The indentation of the first line that has one; without one two spaces. */
function unitOf(text: string): string {
  const indent = /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? '  '
  return indent.startsWith('\t') ? '\t' : indent
}

function endOf({ offset, length }: jsonc.Node): number {
  return offset + length
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
