import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** The growth of the work of a regular expression with the length of a text. */
export interface Growth {
  /** The repeated text for which it grows most, with what stands before and behind its repetitions. */
  readonly before: string
  readonly repeated: string
  readonly behind: string
  /** How many times as much work a text takes that is three times as long: 3 is linear, 9 quadratic. */
  readonly factor: number
}

/** A factor between linear and quadratic growth. */
export const superlinear = 5

/** Characters of the shorter text at least, and repetitions in it; the longer one has three times as many. */
const shorter = { characters: 300, repetitions: 40 }

/** Steps after which a search is given up: a linear pattern takes some ten for a character. */
const mostSteps = 1_000_000

/** The characters that stand for all of a class, the plain ones first. */
const candidates = 'aAzZ0 .-_/:!?,;"\'`«“(<[{*#=@\\\t\n\0\r\u00e9\u0434\u6f22\u3002\u0301'

class TooLong extends Error {}

/**
 * The fastest growth of the work among texts that are made of the pattern itself: the way to each of its repetitions, and a
 * character or text that the repetition takes, again and again. Undefined where nothing in it repeats. Steps are counted
 * in a backtracking search such as V8's, which begins anew at each character; so no clock is read, and the result is
 * always the same.
 */
export function growthOf(source: string, flags: string): Growth | undefined {
  const unicode = flags.includes('u')
  const parsed = new RegExpParser({ ecmaVersion: 2024 }).parsePattern(source, 0, source.length, {
    unicode,
    unicodeSets: flags.includes('v'),
  })
  const search = searchOf(parsed, flags)
  let most: Growth | undefined
  for (const text of attacksOn(parsed, flags)) {
    const times = Math.max(shorter.repetitions, Math.ceil(shorter.characters / text.repeated.length))
    const of = (count: number) => search(text.before + text.repeated.repeat(count) + text.behind)
    const steps = of(times)
    const factor = Number.isFinite(steps) ? of(times * 3) / steps : steps
    if (!most || factor > most.factor) most = { ...text, factor }
    if (factor > superlinear) break
  }
  return most
}

type Attack = Omit<Growth, 'factor'>

/** The elements of a pattern that take one character. */
type Single = AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass

function attacksOn(pattern: AST.Pattern, flags: string): readonly Attack[] {
  const singles = new Set<Single>()
  const quantifiers: { readonly quantifier: AST.Quantifier; readonly way: string }[] = []
  visit(pattern, '')
  const own = [...singles].flatMap((each) => (each.type === 'Character' ? [String.fromCodePoint(each.value)] : []))
  const tests = [...singles].map((each) => testOf(each, flags))
  // `\b` tells them apart too.
  tests.push((each) => /\w/.test(each))
  // One character for all that no element of the pattern tells apart.
  const kinds = new Map<string, string>()
  for (const each of new Set([...candidates, ...own])) {
    const kind = tests.map((test) => (test(each) ? 1 : 0)).join('')
    if (!kinds.has(kind)) kinds.set(kind, each)
  }
  const alphabet = [...kinds.values()]
  const attacks = new Map<string, Attack>()
  for (const { quantifier, way } of quantifiers) {
    const repeated = new Set(quantifierTexts(quantifier, alphabet, flags))
    for (const each of repeated)
      for (const attack of [
        { before: '', repeated: each, behind: '\0' },
        { before: way, repeated: each, behind: '\0' },
        { before: way, repeated: each, behind: '\n\0' },
        ...(way === '' ? [] : [{ before: '', repeated: way + each, behind: '\0' }]),
      ])
        attacks.set(JSON.stringify(attack), attack)
    if (way !== '') attacks.set(way, { before: '', repeated: way, behind: '\0' })
  }
  return [...attacks.values()]

  function visit(node: AST.Node, way: string): void {
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
        for (const each of node.alternatives) visit(each, way)
        break
      case 'Assertion':
        if ('alternatives' in node)
          for (const each of node.alternatives) visit(each, node.kind === 'lookahead' ? way : '')
        break
      case 'Alternative': {
        let before = way
        for (const each of node.elements) {
          visit(each, before)
          before += sampleOf(each)
        }
        break
      }
      case 'Quantifier':
        if (node.max >= shorter.characters) quantifiers.push({ quantifier: node, way })
        visit(node.element, way)
        break
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        singles.add(node)
        break
    }
  }

  function sampleOf(node: AST.Node): string {
    switch (node.type) {
      case 'Group':
      case 'CapturingGroup':
        return sampleOf(node.alternatives[0]!)
      case 'Alternative':
        return node.elements.map(sampleOf).join('')
      case 'Quantifier':
        return sampleOf(node.element).repeat(Math.min(node.min, 64))
      case 'Character':
        return String.fromCodePoint(node.value)
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass': {
        const test = testOf(node, flags)
        return [...candidates, ...own0(node)].find(test) ?? ''
      }
      default:
        return ''
    }
  }

  function quantifierTexts({ element }: AST.Quantifier, alphabet: readonly string[], flags: string): readonly string[] {
    if (isSingle(element)) return alphabet.filter(testOf(element, flags))
    const inner: string[] = []
    const alternatives = 'alternatives' in element ? element.alternatives : []
    for (const alternative of alternatives) {
      const [first] = alternative.elements
      const only = first?.type === 'Quantifier' ? first.element : first
      if (alternative.elements.length === 1 && only && isSingle(only))
        inner.push(...alphabet.filter(testOf(only, flags)))
      else inner.push(sampleOf(alternative))
    }
    return inner.filter((each) => each !== '')
  }
}

function own0(node: AST.Node): readonly string[] {
  if (node.type === 'CharacterClass')
    return node.elements.flatMap((each) =>
      each.type === 'Character'
        ? [String.fromCodePoint(each.value)]
        : each.type === 'CharacterClassRange'
          ? [String.fromCodePoint(each.min.value)]
          : [],
    )
  return []
}

function isSingle(node: AST.Node): node is Single {
  return ['Character', 'CharacterClass', 'CharacterSet', 'ExpressionCharacterClass'].includes(node.type)
}

/** Whether an element takes a character, as V8 says. */
function testOf(node: Single, flags: string): (character: string) => boolean {
  const pattern = new RegExp(`^(?:${node.raw})$`, flags.replace(/[gydm]/g, ''))
  const known = new Map<string, boolean>()
  return (character) => {
    const before = known.get(character)
    if (before !== undefined) return before
    const fits = pattern.test(character)
    known.set(character, fits)
    return fits
  }
}

/** Matches from a place on, and calls `next` with the place behind. */
type Matcher = (at: number, next: (at: number) => boolean) => boolean

/** Counts the steps of finding all matches in a text. */
function searchOf(pattern: AST.Pattern, flags: string): (text: string) => number {
  const isUnicode = /[uv]/.test(flags)
  const groups = new Map<AST.CapturingGroup, readonly [number, number]>()
  let text = ''
  let steps = 0
  const whole = anyOf(pattern.alternatives, false)
  const word = (at: number) => /\w/.test(text[at] ?? '')
  const lineEnd = (at: number) => /[\n\r\u2028\u2029]/.test(text[at] ?? '')

  return (searched) => {
    text = searched
    steps = 1
    groups.clear()
    try {
      for (let at = 0; at <= text.length; ) {
        let end = -1
        const found = whole(at, (behind) => {
          end = behind
          return true
        })
        step()
        if (!found && flags.includes('y')) break
        at = found && end > at ? end : at + 1
      }
    } catch (reason) {
      if (!(reason instanceof TooLong || reason instanceof RangeError)) throw reason
      return Number.POSITIVE_INFINITY
    }
    return steps
  }

  function step(): void {
    if (++steps > mostSteps) throw new TooLong()
  }

  function anyOf(alternatives: readonly AST.Alternative[], back: boolean): Matcher {
    const all = alternatives.map(({ elements }) =>
      inOrder(
        elements.map((each) => matcherOf(each, back)),
        back,
      ),
    )
    return all.length === 1 ? all[0]! : (at, next) => all.some((each) => each(at, next))
  }

  function inOrder(all: readonly Matcher[], back: boolean): Matcher {
    const [last, ...others] = back ? all : [...all].reverse()
    if (!last) return (at, next) => next(at)
    return others.reduce((behind, each) => (at, next) => each(at, (end) => behind(end, next)), last)
  }

  function matcherOf(node: AST.Element, back: boolean): Matcher {
    switch (node.type) {
      case 'Group':
        return anyOf(node.alternatives, back)
      case 'CapturingGroup': {
        const inner = anyOf(node.alternatives, back)
        return (at, next) => {
          const before = groups.get(node)
          const fits = inner(at, (end) => {
            const kept = groups.get(node)
            groups.set(node, back ? [end, at] : [at, end])
            if (next(end)) return true
            if (kept) groups.set(node, kept)
            return false
          })
          if (!fits && before) groups.set(node, before)
          return fits
        }
      }
      case 'Quantifier':
        return repeated(matcherOf(node.element, back), node)
      case 'Assertion':
        return assertion(node)
      case 'Backreference': {
        const group = [node.resolved].flat()[0]!
        return (at, next) => {
          step()
          const [from, to] = groups.get(group) ?? [0, 0]
          const length = to - from
          const start = back ? at - length : at
          return start >= 0 && text.startsWith(text.slice(from, to), start) && next(back ? start : at + length)
        }
      }
      default:
        return single(node as Single, back)
    }
  }

  function single(node: Single, back: boolean): Matcher {
    const fits = testOf(node, flags)
    return (at, next) => {
      step()
      const place = back ? at - 1 : at
      if (place < 0 || place >= text.length) return false
      const character = isUnicode && !back ? String.fromCodePoint(text.codePointAt(place)!) : text[place]!
      return fits(character) && next(back ? place : place + character.length)
    }
  }

  function repeated(element: Matcher, { min, max, greedy }: AST.Quantifier): Matcher {
    const from =
      (count: number): Matcher =>
      (at, next) => {
        step()
        const more = () =>
          count < max && element(at, (end) => (end !== at || count < min) && from(count + 1)(end, next))
        if (count < min) return more()
        return greedy ? more() || next(at) : next(at) || more()
      }
    return from(0)
  }

  function assertion(node: AST.Assertion): Matcher {
    if ('alternatives' in node) {
      const inner = anyOf(node.alternatives, node.kind === 'lookbehind')
      return (at, next) => inner(at, () => true) !== node.negate && next(at)
    }
    const isMultiline = flags.includes('m')
    const holds =
      node.kind === 'start'
        ? (at: number) => at === 0 || (isMultiline && lineEnd(at - 1))
        : node.kind === 'end'
          ? (at: number) => at === text.length || (isMultiline && lineEnd(at))
          : (at: number) => (word(at - 1) !== word(at)) !== (node as AST.WordBoundaryAssertion).negate
    return (at, next) => {
      step()
      return holds(at) && next(at)
    }
  }
}
