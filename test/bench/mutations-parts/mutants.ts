/** A small mutator of compiled modules: it finds the places at which one change of the code should make a test fail. */

/** One change of a module. */
export interface Mutant {
  /** The module's path below `dist`. */
  readonly file: string
  readonly line: number
  readonly kind: 'condition' | 'bound' | 'statement'
  readonly before: string
  readonly after: string
  /** Where `before` begins in the module's text. */
  readonly at: number
  /** Its whole line, trimmed, before the change and with it. */
  readonly lines: readonly [string, string]
}

type Rule = { readonly kind: Mutant['kind']; readonly pattern: RegExp; readonly replace: (match: string) => string }

const swapped: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}

/**
 * In the order of preference where two match at one place. esbuild writes one statement a line, and spaces around binary
 * operators, so that an arrow or a shift is never taken for a comparison.
 */
const rules: readonly Rule[] = [
  { kind: 'condition', pattern: /(?<= )(?:===|!==|&&|\|\|)(?= )/g, replace: (match) => swapped[match]! },
  { kind: 'condition', pattern: /(?<=\bif \()(?=!?[\w$.]+\) )/g, replace: () => '!' },
  { kind: 'bound', pattern: /(?<= )[<>]=?(?= )/g, replace: (match) => swapped[match]! },
  { kind: 'bound', pattern: /(?<=[ (])(?<!void )\d+(?=[),;\]])/g, replace: (match) => String(Number(match) + 1) },
  // A call or an assignment that stands alone, whole in its line.
  { kind: 'statement', pattern: /^ *(?:await )?[\w$][\w$.#]*(?:\(.*\)| (?:[-+]?=|\?\?=) .*);$/gm, replace: () => ';' },
]

/** All mutants of a compiled module. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const code = withoutTexts(text)
  const mutants = new Map<number, Mutant>()
  for (const { kind, pattern, replace } of rules)
    for (const { 0: match, index } of code.matchAll(pattern)) {
      if (mutants.has(index) || (kind === 'statement' && !isWhole(match))) continue
      const before = text.slice(index, index + match.length)
      const line = text.slice(0, index).split('\n').length
      const change = { file, line, kind, before, after: replace(before), at: index }
      const lineOf = (module: string) => module.split('\n')[line - 1]!.trim()
      mutants.set(index, { ...change, lines: [lineOf(text), lineOf(mutated(text, change))] })
    }
  return [...mutants.values()]
}

/**
 * Changes that no test should notice, by the names in their line: what is kept to be quick, when something is given up or shown,
 * and where bytes are cut into pieces. A rule belongs here only where the behaviour is the same on both sides by what the name
 * means; a place that is merely hard to test does not.
 */
const equals: readonly {
  readonly reason: string
  readonly kinds: readonly Mutant['kind'][]
  readonly names: RegExp
}[] = [
  { reason: 'a write into a cache', kinds: ['statement'], names: /[cC]ache\w*(?:\.(?:set|delete|clear)\(| \??\??= )/ },
  {
    reason: 'the size of a chunk or a buffer',
    kinds: ['bound'],
    names: /\b\w*(?:[cC]hunk|[bB]uffer)(?:Size|Bytes|Limit)\b|highWater/,
  },
  { reason: 'a timeout', kinds: ['statement'], names: /\bclear(?:Timeout|Interval)\(|\.unref\(\)/ },
  {
    reason: 'a timeout',
    kinds: ['bound'],
    names: /\bset(?:Timeout|Interval)\(|[tT]imeout|\bperformance\.now\(\)/,
  },
  {
    reason: 'a text cut for display',
    kinds: ['bound'],
    names: /\bshorten(?:ed)?\(|\bclipped\b|`[^`]*\$\{[^{}`]+\.slice\(0, \d+\)\}[^`]* [^`]*`/,
  },
  { reason: 'the indentation of JSON', kinds: ['bound'], names: /JSON\.stringify\(.*, null, \d\)/ },
  { reason: 'a tolerance of rounding', kinds: ['bound'], names: /[<>]=? \d+e-(?:[6-9]|\d\d)\b/ },
  { reason: 'the pace of progress', kinds: ['bound', 'statement'], names: /\b(?:on|show)?[pP]rogress(?:\.\w+)?\(/ },
]

/** Why a change is equal to the original by its nature; undefined where a test should notice it. */
export function equalBy({ kind, lines: [original, changed] }: Mutant): string | undefined {
  const isIn = (names: RegExp) => names.test(original) && (kind !== 'bound' || names.test(changed))
  return equals.find(({ kinds, names }) => kinds.includes(kind) && isIn(names))?.reason
}

/** The module with the change. */
export function mutated(text: string, { at, before, after }: Pick<Mutant, 'at' | 'before' | 'after'>): string {
  return `${text.slice(0, at)}${after}${text.slice(at + before.length)}`
}

/** Whether the brackets of a line close within it. */
function isWhole(line: string): boolean {
  let depth = 0
  for (const character of line) {
    if ('([{'.includes(character)) depth++
    if (')]}'.includes(character) && --depth < 0) return false
  }
  return depth === 0
}

/**
 * The text with quotation marks in place of strings, templates and regular expressions: a change there proves little. Code
 * within a template stays. Compiled modules have no comments.
 */
function withoutTexts(text: string): string {
  const piece =
    /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|[`{}]/g
  const template = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y
  // For each template that is open around the code at hand: how many brackets are open in that code.
  const open: number[] = []
  let code = ''
  let place = 0
  const blank = (end: number) => {
    code += text.slice(place, end).replace(/[^\n]/g, '"')
    place = end
  }
  const passTemplate = (from: number) => {
    template.lastIndex = from
    blank(template.test(text) ? template.lastIndex : text.length)
    if (text.endsWith('${', place)) open.push(0)
  }
  for (let match = piece.exec(text); match; match = piece.exec(text)) {
    const [found] = match
    if (found.startsWith('/') && !/[(=:,!&|?{};[\n]$|\breturn$/.test(text.slice(0, match.index).trimEnd().slice(-6))) {
      // A division.
      piece.lastIndex = match.index + 1
      continue
    }
    code += text.slice(place, match.index)
    place = match.index
    if (found === '`') passTemplate(match.index + 1)
    else if (found === '}' && open.at(-1) === 0) {
      open.pop()
      passTemplate(match.index + 1)
    } else if (found === '{' || found === '}') {
      if (open.length > 0) open.push(open.pop()! + (found === '{' ? 1 : -1))
      code += found
      place += 1
    } else blank(match.index + found.length)
    piece.lastIndex = place
  }
  return code + text.slice(place)
}
