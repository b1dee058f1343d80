import { stripControls } from '../terminal/io.ts'
import { blockLines, firstNumberOf, type Place } from './blocks.ts'
import { type CodeColours, colourCode, type Highlighter } from './code.ts'
import { type Block, blocksOf, type Definitions } from './parse.ts'
import type { Ruler } from './styled.ts'
import { lineOf } from './styled.ts'
import { breakCode } from './wrap.ts'

export interface StreamParts {
  readonly ruler: Ruler
  /** The columns of the window now. */
  width(): number
  highlighter(): Highlighter | undefined
}

/** Beyond so many open lines, blocks are looked for less often. */
const fewLines = 40
/** An open block of more characters is closed, and a longer line is broken. */
const longestOpen = 32_768

/** The block of code with lines that become final one by one. */
interface Fence {
  readonly closing: RegExp
  readonly indent: number
  readonly colours: CodeColours
}

/**
 * Reads line by line: after each whole line all blocks but the last are closed for good (CommonMark 0.31.2, "Phase 1: block
 * structure"), as are all items of a list but the last and the lines of a block of code. A link is known from its definition
 * on, and not before.
 */
export function createMarkdownStream({ ruler, width, highlighter }: StreamParts) {
  let lines: string[] = []
  let partial = ''
  let known: Definitions = {}
  let fence: Fence | undefined
  let before: string | undefined
  let firstNumber: number | undefined
  /** The number of lines at which blocks are looked for again. */
  let nextLook = 0

  return { push, open, end }

  /** Takes a piece and returns the lines that became final. */
  function push(text: string): string[] {
    const final: string[] = []
    partial += text
    for (;;) {
      const at = partial.indexOf('\n')
      if (at === -1 && partial.length <= longestOpen) return final
      const length = at === -1 || at > longestOpen ? longestOpen : at
      const line = partial.slice(0, length)
      partial = partial.slice(length === at ? at + 1 : length)
      final.push(...takeLine(cleaned(line)))
    }
  }

  function takeLine(line: string): string[] {
    if (fence) return codeLine(line, fence)
    lines.push(line)
    const isFence = /^ {0,3}(?:```|~~~)/.test(line)
    if (lines.length > fewLines && lines.length < nextLook && !isFence) return []
    nextLook = Math.ceil(lines.length * 1.25)
    return settle()
  }

  /** Closes the blocks that no further line can change. */
  function settle(): string[] {
    const blocks = blocksOf(lines.join('\n'), known)
    const last = blocks.at(-1)
    if (!last) return []
    if (last.type === 'fence' && last.lines[0] === lines.length - 1) return [...enterFence(blocks, last)]
    if (lines.reduce((sum, line) => sum + line.length + 1, 0) > longestOpen) return close(blocks, lines.length)
    if (isClosed(last)) return close(blocks, last.lines[1])
    const final = close(blocks.slice(0, -1), blocks.at(-2)?.lines[1] ?? 0)
    return last.children.length > 1 && last.type.endsWith('_list') ? [...final, ...closeItems(last, blocks)] : final
  }

  /** Whether no further line can belong to the last block. */
  function isClosed({ type }: Block): boolean {
    return type === 'heading' || type === 'hr' || (type === 'paragraph' && /^\s*$/.test(lines.at(-1)!))
  }

  /** Paints blocks, and forgets the source before a line but for its empty end. */
  function close(blocks: readonly Block[], upTo: number): string[] {
    if (blocks.length === 0) return []
    const final = paintFinal(blocks)
    before = blocks.at(-1)!.type
    firstNumber = undefined
    drop(upTo)
    return final
  }

  function drop(upTo: number): void {
    let from = upTo
    while (from > 0 && /^\s*$/.test(lines[from - 1]!)) from--
    lines = lines.slice(from)
    nextLook = 0
  }

  /** Closes all items of the open list but the last. */
  function closeItems(list: Block, blocks: readonly Block[]): string[] {
    // The blocks before the list are gone from the source: it is read again.
    const [only] = blocks.length > 1 ? blocksOf(lines.join('\n'), known).slice(-1) : [list]
    const items = only!.children
    const number = firstNumber ?? firstNumberOf(only!)
    const final = paintFinal([{ ...only!, children: items.slice(0, -1) }])
    before = only!.type
    firstNumber = number === undefined ? undefined : number + items.length - 1
    drop(items.at(-1)!.lines[0])
    return final
  }

  function enterFence(blocks: readonly Block[], { token }: Block): string[] {
    const final = paintFinal(blocks)
    // An empty block of code is painted as one empty line, which its first line replaces.
    final.pop()
    const opening = lines.at(-1)!
    const mark = token.markup
    fence = {
      closing: new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ \\t]*$`),
      indent: opening.length - opening.trimStart().length,
      colours: colourCode(languageOf(token.info), highlighter()),
    }
    before = 'fence'
    firstNumber = undefined
    lines = []
    nextLook = 0
    return final
  }

  function codeLine(line: string, { closing, indent, colours }: Fence): string[] {
    if (!closing.test(line)) return [lineOf(colours.next(unindented(line, indent)))]
    fence = undefined
    return []
  }

  /** The lines of the block that is still open. */
  function open(): string[] {
    const line = cleaned(partial.slice(0, longestOpen))
    if (fence) {
      // A row of marks may become the end of the code.
      if (/^ {0,3}(?:`+|~+)?$/.test(line)) return []
      return breakCode(fence.colours.peek(unindented(line, fence.indent)), width(), ruler)
    }
    const isMark = /^[-=*_#>+`~| \t]*(?:\d+[.)]?)?$/.test(line)
    const shown = isMark ? lines : [...lines, line]
    if (shown.length === 0) return []
    const links = { ...known, references: { ...known.references } }
    return paint(blocksOf(shown.join('\n'), links), links, shown, width())
  }

  /** Ends the text and returns the remaining lines. */
  function end(): string[] {
    const last = cleaned(partial)
    partial = ''
    const final = last === '' ? [] : takeLine(last)
    fence = undefined
    const rest = lines.length === 0 ? [] : close(blocksOf(lines.join('\n'), known), lines.length)
    lines = []
    known = {}
    before = undefined
    firstNumber = undefined
    return [...final, ...rest]
  }

  function paintFinal(blocks: readonly Block[]): string[] {
    return paint(blocks, known, lines, Infinity)
  }

  function paint(blocks: readonly Block[], links: Definitions, source: readonly string[], codeWidth: number): string[] {
    const place: Place = { source, before, firstNumber }
    return blockLines(blocks, place, { width: width(), codeWidth, ruler, known: links, highlighter: highlighter() })
  }
}

/** A line without control characters; the tab stays. */
function cleaned(line: string): string {
  return stripControls(line.replace(/\r$/, '')).replace(/\r/g, '')
}

function unindented(line: string, indent: number): string {
  const spaces = /^ */.exec(line)![0].length
  return line.slice(Math.min(indent, spaces))
}

function languageOf(info: string): string {
  return info.trim().split(/\s+/)[0] ?? ''
}
