import { dropMarkup } from './markup.ts'
import { signs } from './signs.ts'
import { isStageDirection, longestDirection } from './stage-directions.ts'

/** No letter of the ten languages carries more combining marks; a longer run is decoration and slow to normalise. */
const excessMarks = /(\p{M}{8})\p{M}+/gu
/** Surrogates without their other half, control, private and unassigned code points; line ends and tabs stay. */
const unspeakable = /(?![\n\t\r\v\f])[\p{Cs}\p{Cc}\p{Co}\p{Cn}]/gu
/** Invisible characters (joiners, bidi marks, tags) and modifiers of emoji (selectors, keycaps). */
const invisible = /\p{Cf}|\p{Variation_Selector}|\u20e3/gu
/** Emoji and pictures, spacing accents, bars. Kept are signs with a name, and the marks and squared units of CJK. */
const symbols = new RegExp(
  `(?![${Object.keys(signs.names)
    .join('')
    .replace(
      /[\\\]^-]/g,
      '\\$&',
    )}\\u3200-\\u33ff\\u309b\\u309c\\p{N}*!?])[\\p{So}\\p{Sk}\\p{Extended_Pictographic}]|[|]|~(?! ?\\p{N})`,
  'gu',
)
/** An arrow or another sign that is shown as an emoji, by the selector behind it. */
const pictures = /(?![\p{N}#*])\p{Extended_Pictographic}\ufe0f/gu
/** Letters and digits in another shape, as decoration has them: full width, circled, mathematical, superscript; ligatures. */
const shaped =
  /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\ufb00-\ufb06\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128-\u212d\u2460-\u249b\u24b6-\u24ea\u2080-\u2089\u2090-\u209c\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f149}]/gu
const otherDigits = /(?![0-9])\p{Nd}/gu
/** Stands where a symbol was, until the spaces around it are put right. */
const gap = '\u0001'

/** A reading can uncover marks, such as escaped ones, for the next; no text gets more readings. */
const mostReadings = 6

export interface SanitizeOptions {
  /** Reads stage directions aloud. */
  readonly keepDirections?: boolean | undefined
  /** Called with each stage direction that goes, as it was written: an ordinary aside may look like one. */
  onDirection?(written: string): void
}

/**
 * Makes written text ready to be read aloud: emoji and symbols without a name, the marks of Markdown and HTML, stage
 * directions and long repeats go; links leave their label; digits and letters of every script stay. Words are one space
 * apart; paragraphs, headings, list items and rows of a table are one line feed apart, cells a comma. Returns '' when
 * nothing is left that can be spoken.
 * Time is linear in the length of any text, and a clean line is left alone.
 */
export function sanitize(text: string, { keepDirections = false, onDirection }: SanitizeOptions = {}): string {
  const removed = (written: string) => onDirection?.(written.replaceAll(gap, ''))
  const tidied = (lines: string) => tidy(keepDirections ? unlink(lines) : dropDirections(unlink(lines), removed))
  const plain = text
    .replace(excessMarks, '$1')
    .replace(unspeakable, ' ')
    .replace(pictures, gap)
    .replace(invisible, '')
    .replace(shaped, (character) => character.normalize('NFKC'))
    .replace(otherDigits, digitOf)
  let clean = tidied(joinLines(dropMarkup(plain), true))
  for (let reading = 1; reading < mostReadings; reading++) {
    const again = tidied(joinLines(dropMarkup(clean), false))
    if (again === clean) break
    clean = again
  }
  return /[\p{L}\p{N}]/u.test(clean) ? clean : ''
}

function tidy(text: string): string {
  const unmarked = dropEmphasis(text)
  return collapseRepeats(unmarked.replace(/‼/g, '!!').replace(/⁉/g, '!?'))
    .replace(symbols, gap)
    .replace(/\u0001\p{M}+/gu, gap)
    .replace(/[ \u0001\t\u00a0\u3000]+([.,;:!?…。、！？]?)/g, closeGap)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim()
}

/** Keeps a line feed between paragraphs, headings and list items; lines that are wrapped are joined with a space. */
function joinLines(text: string, wrapped: boolean): string {
  const pieces: string[] = []
  let last: string | undefined
  let separate = true
  for (const raw of text.split(/\r\n?|[\n\v\f\u0085\u2028\u2029]/)) {
    const { text: line, alone } = readLine(raw.replace(/\s+/g, ' ').trim())
    if (line === '') {
      separate = true
      continue
    }
    // Chinese and Japanese wrap lines without a space between words.
    const glue = isSpaceless(last) && isSpaceless(line[0]) ? '' : ' '
    if (pieces.length > 0) pieces.push(separate || alone || !wrapped ? '\n' : glue)
    pieces.push(line)
    last = line.at(-1)
    separate = alone
  }
  return pieces.join('')
}

function readLine(line: string) {
  // Rules, table borders, code fences and the addresses of reference links hold nothing to read.
  if (/^[-*_=|:+ ]*$/.test(line) || /^(?:```|~~~)/.test(line) || /^\[[^\]]{1,200}\]: \S+/.test(line))
    return { text: '', alone: true }
  let text = line.replace(/^(?:> ?)+/, '')
  if (/^#{1,6} /.test(text)) return { text: text.replace(/^#[# ]* /, '').replace(/ #+$/, ''), alone: true }
  text = text.replace(/^(?:[-*+•‣◦▪·] (?:\[[ xX]\] )?)+/, '')
  if (/^\|.*\||.\s\|\s./.test(text)) return { text: joinCells(text), alone: true }
  return { text, alone: text.length < line.length || /^\d{1,3}[.)] /.test(text) }
}

/** A row of a table: a pause stands between two cells, which a mark at the end of a cell already is. */
function joinCells(row: string): string {
  const cells = row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
  return cells
    .map((cell, index) => {
      const next = cells[index + 1]
      if (next === undefined) return cell
      if (isSpaceless(cell.at(-1)) && isSpaceless(next[0])) return `${cell}，`
      return /[.,;:!?…]$/.test(cell) ? `${cell} ` : `${cell}, `
    })
    .join('')
}

function isSpaceless(character: string | undefined): boolean {
  return (
    character !== undefined && /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff01-\uff60]/u.test(character)
  )
}

/** Numbers of notes behind a word or a mark: `text[1]`, `text. [2, 3]`. */
const footnotes = /(?<=\p{L}{3}|[.,;:!?"'”’)\]]) ?\[\d{1,3}(?:[,;–-] ?\d{1,3}){0,9}\]/gu

/** The longest address that a link may hide behind its label. */
const longestAddress = 2048

/** Links and images leave their label; addresses in angle brackets lose the brackets. */
function unlink(lines: string): string {
  const text = lines.replace(excessMarks, '$1').normalize('NFC')
  const closings = matchPairs(text, '(', ')')
  const pieces: string[] = []
  const openings: number[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '[') openings.push(pieces.length)
    if (character === ']' && openings.length > 0) {
      const opening = openings.pop()!
      const end = endOfAddress(text, at + 1, closings)
      if (end !== undefined) {
        pieces[opening] = ''
        if (pieces[opening - 1] === '!') pieces[opening - 1] = ''
        at = end
        continue
      }
    }
    pieces.push(character)
  }
  return pieces
    .join('')
    .replace(/\[\^[\p{L}\p{N}_-]{1,40}\]/gu, '')
    .replace(footnotes, '')
    .replace(/<((?:https?|mailto):[^\s<>]{1,2048})>/g, '$1')
}

/** Where the address after a label ends: `(url "title")` or `[reference]`; undefined when there is none. */
function endOfAddress(text: string, at: number, closings: ReadonlyMap<number, number>): number | undefined {
  if (text[at] === '[') {
    const close = text.slice(at, at + 200).indexOf(']')
    return close > 0 && !text.slice(at + 1, at + close).includes('[') ? at + close : undefined
  }
  const close = text[at] === '(' ? closings.get(at) : undefined
  if (close === undefined || close - at > longestAddress) return undefined
  const gap = text.slice(at + 1, close).search(/\s/)
  return gap < 0 || /["'(]/.test(text[at + 2 + gap] ?? '') ? close : undefined
}

/** A phrase between asterisks or underscores, as chat models write directions: `*sighs*`. */
const starred = /(?<![\p{L}\p{N}*_\\])([*_]{1,2})(?![\s*_])([^*_\n]{2,120})(?<!\s)\1(?![\p{L}\p{N}*_])/gu

/** How much of the text before a phrase is looked at, in characters: enough to find the end of the sentence before. */
const textBefore = 80

/** Stage directions in brackets or asterisks go, with the space before a following mark. */
function dropDirections(text: string, onDirection: (written: string) => void): string {
  const closings = new Map(
    ['()', '（）', '[]', '【】'].flatMap(([open, close]) => [...matchPairs(text, open!, close!)]),
  )
  // Doubled stars with a capital are headings and warnings.
  for (const { 0: whole, 1: marks, index } of text.matchAll(starred))
    if (marks!.length === 1 || /^..\p{Ll}/u.test(whole)) closings.set(index, index + whole.length - 1)
  if (closings.size === 0) return text
  const kept: string[] = []
  let end = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const close = closings.get(at)
    if (close === undefined || close - at > longestDirection + 2) continue
    const before = (end + text.slice(Math.max(from, at - textBefore), at)).slice(-textBefore).replaceAll(gap, ' ')
    const width = /^(?:\*\*|__)/.test(text.slice(at, at + 2)) ? 2 : 1
    if (!isStageDirection(text.slice(at + width, close + 1 - width), before, text.slice(close + 1, close + 9))) continue
    onDirection(text.slice(at, close + 1))
    kept.push(text.slice(from, at), /\s$/.test(before) ? gap : '')
    end = before
    from = close + 1
    // `(whispering): Hello` begins with its words.
    if (/(?:^|\n) ?$/.test(before) && /^[:,;.] /.test(text.slice(from, from + 2))) from += 1
    if (/["“«]$/.test(before) && text[from] === ' ') from += 1
    at = close
  }
  return kept.join('') + text.slice(from)
}

/** For each opening mark that is closed: where. Pairs nest; marks left over are in no pair. */
function matchPairs(text: string, open: string, close: string): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>()
  if (!text.includes(close)) return pairs
  const openings: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] === open) openings.push(at)
    else if (text[at] === close && openings.length > 0) pairs.set(openings.pop()!, at)
  }
  return pairs
}

/** Removes marks of emphasis, strikes and code, but no star between numbers and no underscore inside a word. */
function dropEmphasis(text: string): string {
  return text.replace(
    /\\([\\`*_{}[\]()#+.!~|>-])|(?<=[\p{N})] ?)(\*{1,2})(?= ?[\p{N}(])|(?<=[\p{L}\p{N}])(_+)(?=[\p{L}\p{N}])|`+|~~+|\*+|_+/gu,
    (_, escaped?: string, times?: string, joint?: string) => escaped ?? times ?? joint ?? '',
  )
}

/** The value of a decimal digit of any script: such digits stand in rows of ten, the zero first. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0)!
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}

/** A removed symbol leaves nothing before a mark (`Great 🎉!`), otherwise one space. */
function closeGap(run: string, mark: string): string {
  return mark !== '' && run.includes(gap) ? mark : ` ${mark}`
}

/** A letter four or more times in a row becomes two (no language needs more), marks one, dots an ellipsis; never digits. */
function collapseRepeats(text: string): string {
  return text
    .replace(/(\p{L})\1{3,}/gu, '$1$1')
    .replace(/\.{4,}/g, '...')
    .replace(/([^\p{L}\p{N}\p{M}\s.])\1{2,}/gu, '$1')
}
