import { type Document, isMap, isScalar, isSeq, parseDocument, stringify, type YAMLMap } from 'yaml'
import { type ConfigFormat, lineBreakOf, type Path, withLastBreak } from './format.ts'

/** Aliases that a document may unfold: a few lines of them can stand for gigabytes. */
const mostAliases = 100

/** YAML 1.2, one document a file; an empty one has no value. */
export const yamlFormat: ConfigFormat = {
  parse(text) {
    const document = parsed(text)
    return document.contents === null ? undefined : (document.toJS({ maxAliasCount: mostAliases }) as unknown)
  },
  ways: [splice, rewrite],
}

function parsed(text: string): Document.Parsed {
  const document = parseDocument(text, { prettyErrors: true })
  const [first] = document.errors
  if (first) throw new Error(first.message.split('\n', 1)[0])
  return document
}

/** Changes the lines of one value and leaves all others as they are; undefined for shapes that need more. */
function splice(text: string, path: Path, value: unknown): string | undefined {
  const document = parsed(text)
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const step = path.at(-1)!
  if (typeof step === 'number') return spliceItem(text, parent, step, value)
  if (path.length > 1) return undefined
  if (parent === null) return value === undefined ? text : `${withLastBreak(text)}${block(text, { [step]: value })}`
  if (!isMap(parent) || parent.flow) return undefined
  const before = parent.get(step, true)
  if (before === undefined)
    return value === undefined ? text : `${withLastBreak(text)}${block(text, { [step]: value })}`
  if (value === undefined) return withoutField(text, parent, step)
  if (!isScalar(before) || !before.range || typeof value === 'object') return undefined
  const [start, end] = before.range
  return `${text.slice(0, start)}${stringify(value, { lineWidth: 0 }).trimEnd()}${text.slice(end)}`
}

/** Removes a field of the document with its lines. */
function withoutField(text: string, parent: YAMLMap, step: string): string | undefined {
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === step)
  const { range } = (pair?.key ?? {}) as { range?: readonly number[] }
  if (!pair || !range) return undefined
  return `${text.slice(0, lineStart(text, range[0]!))}${text.slice(endOfItems(text, pair.value ?? pair.key))}`
}

/** Adds, replaces or removes an item of a list that has an item a line. */
function spliceItem(text: string, list: unknown, at: number, value: unknown): string | undefined {
  if (list === null && value !== undefined) return `${withLastBreak(text)}${block(text, [value])}`
  if (!isSeq(list) || list.flow || list.items.length === 0) return undefined
  const starts = list.items.map((item) => lineStart(text, (item as { range?: readonly number[] }).range?.[0] ?? 0))
  const end = endOfItems(text, list.items.at(-1))
  const first = starts[0]!
  const indent = /^[ \t]*(?=-)/.exec(text.slice(first))?.[0]
  if (indent === undefined) return undefined
  const from = starts[at] ?? end
  const to = starts[at + 1] ?? (at < starts.length ? end : from)
  const lines = value === undefined ? '' : block(text, [value]).replace(/^(?=[^\r\n])/gm, indent)
  return `${withLastBreak(text.slice(0, from))}${lines}${text.slice(to)}`
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** The beginning of the line behind the last item, without the comments and empty lines that follow it. */
function endOfItems(text: string, last: unknown): number {
  const [, end = text.length] = (last as { range?: readonly number[] }).range ?? []
  const next = text.indexOf('\n', Math.max(0, text[end - 1] === '\n' ? end - 1 : end))
  return next < 0 ? text.length : next + 1
}

/** The lines of a value, with the line breaks of the text. */
function block(text: string, value: unknown): string {
  return stringify(value, { lineWidth: 0 }).replaceAll('\n', lineBreakOf(text))
}

/** Writes the whole document anew; comments, order and quotes stay, spaces may not. */
function rewrite(text: string, path: Path, value: unknown): string {
  const document = parsed(text)
  if (value === undefined) document.deleteIn(path)
  else document.setIn(path, document.createNode(value))
  return document.toString({ lineWidth: 0 }).replaceAll('\n', lineBreakOf(text))
}
