import { createRequire } from 'node:module'
import { stripControls } from '../terminal/io.ts'
import { type Piece, sgr } from './styled.ts'

/** Colours code line by line: the colours of a line depend on the lines before it, and on none after it. */
export type CodeColours = ReturnType<typeof colourCode>

/** The most code before a line that is read to colour it, in characters: beyond, colours begin again. */
const longestContext = 4_000
/** A longer line is not coloured. */
const longestLine = 1_000

/** The styles of highlight.js's scopes (https://highlightjs.readthedocs.io/en/latest/css-classes-reference.html). */
const styles: Readonly<Record<string, string>> = {
  addition: sgr.green,
  attr: sgr.cyan,
  attribute: sgr.cyan,
  built_in: sgr.cyan,
  bullet: sgr.yellow,
  char: sgr.yellow,
  comment: sgr.dim,
  deletion: sgr.red,
  emphasis: sgr.italic,
  keyword: sgr.magenta,
  link: sgr.underline,
  literal: sgr.yellow,
  meta: sgr.dim,
  name: sgr.blue,
  number: sgr.yellow,
  operator: '',
  quote: sgr.dim,
  regexp: sgr.green,
  section: sgr.bold,
  string: sgr.green,
  strong: sgr.bold,
  subst: '',
  symbol: sgr.yellow,
  'selector-class': sgr.cyan,
  'selector-id': sgr.cyan,
  'selector-tag': sgr.magenta,
  tag: sgr.blue,
  'template-variable': sgr.cyan,
  title: sgr.blue,
  type: sgr.cyan,
  variable: sgr.cyan,
}

/** The part of highlight.js that is used. */
export interface Highlighter {
  getLanguage(name: string): unknown
  /** Returns HTML, and the construct that is open at the end. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string; readonly _top?: { readonly parent?: unknown } }
}

/** Loads the languages that highlight.js calls common (40 ms), without its types, which bring those of browsers. */
export function loadHighlighter(): Highlighter {
  const require = createRequire(import.meta.url)
  return require('highlight.js/lib/common')
}

/** Starts on a block of code; one of an unknown language has a single colour. */
export function colourCode(language: string, highlighter: Highlighter | undefined) {
  const known = highlighter && language !== '' && highlighter.getLanguage(language) ? highlighter : undefined
  let context = ''
  return {
    next(line: string): readonly Piece[] {
      const { pieces, following } = read(shownCode(line))
      context = following.length > longestContext ? '' : following
      return pieces
    },
    /** The pieces of a next line that may go on. */
    peek: (line: string) => read(shownCode(line)).pieces,
  }

  function read(text: string): { pieces: readonly Piece[]; following: string } {
    if (!known) return { pieces: [{ text, style: sgr.cyan }], following: '' }
    if (text.length > longestLine) return { pieces: [{ text, style: '' }], following: '' }
    const code = `${context}${text}\n`
    const { value, _top: top } = known.highlight(code, { language, ignoreIllegals: true })
    // Outside of every construct the earlier lines have no influence: each line is then read once.
    const isOutside = top !== undefined && !top.parent
    return { pieces: lastLine(value), following: isOutside ? '' : code }
  }
}

/** A line of code without control characters; tabs are four columns. */
function shownCode(line: string): string {
  return stripControls(line)
    .replace(/[\r\n]/g, '')
    .replace(/\t/g, '    ')
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** The pieces of the last line of highlighted code, before its line break: text with entities in `<span class="…">`. */
function lastLine(html: string): readonly Piece[] {
  const lines: Piece[][] = [[]]
  const stack = ['']
  for (const [part, scope, entity] of html.matchAll(/<span class="([^"]*)">|<\/span>|&([#\w]+);|[^<&]+/g)) {
    if (scope !== undefined) stack.push(styleOf(scope) ?? stack.at(-1)!)
    else if (part === '</span>') stack.pop()
    else {
      const [first = '', ...others] = (entity === undefined ? part : (entities[entity] ?? part)).split('\n')
      const style = stack.at(-1)!
      lines.at(-1)!.push({ text: first, style })
      for (const text of others) lines.push([{ text, style }])
    }
  }
  return lines.at(-2) ?? []
}

function styleOf(classes: string): string | undefined {
  const [first = '', ...others] = classes.split(' ')
  if (others.includes('class_')) return sgr.cyan
  return styles[first.replace(/^hljs-/, '')]
}
