/** What a rule sees of a text: its match, and what stands on both sides. */
export interface Found {
  readonly match: RegExpExecArray
  /** The text before the match, at least its last 40 signs. */
  readonly before: string
  /** The text behind the match, at least its first 40 signs. */
  readonly after: string
}

/** A sticky pattern, and the words for its match; undefined leaves the match to the next rule. */
export type Rule = readonly [pattern: RegExp, read: (found: Found) => string | undefined]

/** The rules of a language, by the first sign of what they read: each is tried where such a token begins, in this order. */
export interface Rules {
  readonly digits: readonly Rule[]
  readonly letters: readonly Rule[]
  readonly signs: readonly Rule[]
}

/** A rule from the source of its pattern; `words` may name groups as `replace` does. */
export function rule(source: string, read: string | Rule[1], flags = ''): Rule {
  const pattern = new RegExp(source, `uy${flags}`)
  if (typeof read !== 'string') return [pattern, read]
  return [pattern, ({ match }) => read.replace(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? '')]
}

/** A stretch of a text and the words that are spoken for it, which are the same where no rule matched. */
export interface Stretch {
  readonly written: string
  readonly spoken: string
}

/** The longest context that a rule is shown on either side, in signs. */
const contextLength = 40

/** Reads a sentence by rules: the first that matches at a token takes it, after `known`. Linear in its length. */
export function applyRules(
  text: string,
  rules: Rules,
  known: (at: number) => Stretch | undefined = () => undefined,
): Stretch[] {
  const stretches: Stretch[] = []
  let from = 0
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at)
    const kind = /^\p{N}/u.test(token) ? rules.digits : /^\p{L}/u.test(token) ? rules.letters : rules.signs
    const read = token.trim() === '' ? undefined : (known(at) ?? firstMatch(text, at, kind))
    if (!read) {
      at += token.length
      continue
    }
    if (at > from) stretches.push({ written: text.slice(from, at), spoken: text.slice(from, at) })
    stretches.push(read)
    at += read.written.length
    from = at
  }
  if (from < text.length) stretches.push({ written: text.slice(from), spoken: text.slice(from) })
  return stretches
}

const tokens = /[\p{L}\p{M}\p{N}]+|\s+|./suy

function tokenAt(text: string, at: number): string {
  tokens.lastIndex = at
  return tokens.exec(text)?.[0] ?? text[at]!
}

function firstMatch(text: string, at: number, rules: readonly Rule[]): Stretch | undefined {
  for (const [pattern, read] of rules) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (!match || match[0] === '') continue
    const end = at + match[0].length
    const before = text.slice(Math.max(0, at - contextLength), at)
    const spoken = read({ match, before, after: text.slice(end, end + contextLength) })
    if (spoken === undefined) continue
    // A rule may put blanks around its words; those that the text has already go.
    const isBehindBlank = at === 0 || /\s/.test(text[at - 1]!)
    const ends = spoken
      .replace(isBehindBlank ? /^ +/ : /^ {1,4}(?= )/, '')
      .replace(/^$|\s/.test(text[end] ?? '') ? / {1,4}$/ : / {1,4}(?= $)/, '')
    return { written: match[0], spoken: ends }
  }
  return undefined
}
