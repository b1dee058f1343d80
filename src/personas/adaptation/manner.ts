/** A word about the manner of speech, with the words that give it its degree: "too long", "more details", "be brief". */
export interface Manner {
  readonly trait: string
  /** The wished direction, 1 or −1. */
  readonly target: number
  /** `complaint`: too much or not enough; `wish`: more or less of it; `plain`: the bare word. */
  readonly kind: 'complaint' | 'wish' | 'plain'
  /** The places of its first and its last word. */
  readonly from: number
  readonly to: number
  /** A thing that answers have, such as lists. */
  readonly noun: boolean
  /** Says how something is told; `any`: whatever it is, since it cannot belong to that. */
  readonly adverb?: 'any' | 'simple'
}

/** The words of a trait: for much and little of it the plain words, then their comparatives; and the things it consists of. */
const vocabulary: Readonly<
  Record<string, { much: string; little: string; moreOf?: string; lessOf?: string; things?: string }>
> = {
  verbosity: {
    much: 'long detailed verbose wordy lengthy thorough',
    little: 'short brief concise succinct terse briefly concisely succinctly',
    moreOf: 'longer wordier lengthier',
    lessOf: 'shorter briefer terser',
    things: 'detail details words text',
  },
  formality: {
    much: 'formal stiff professional formally professionally',
    little: 'casual informal relaxed casually informally',
    moreOf: 'stiffer',
    lessOf: 'looser',
  },
  technical_depth: {
    much: 'technical complicated complex technically',
    little: 'simple easy simply plainly',
    lessOf: 'simpler easier plainer',
    things: 'jargon',
  },
  emoji_use: { much: '', little: '', things: 'emoji emojis smileys emoticons' },
  humour: {
    much: 'funny humorous playful silly',
    little: 'serious',
    moreOf: 'funnier sillier',
    things: 'jokes humour humor',
  },
  directness: {
    much: 'direct blunt straightforward directly',
    little: 'vague evasive',
    moreOf: 'blunter',
    lessOf: 'vaguer',
  },
  structure: { much: 'structured', little: '', things: 'lists bullets headings' },
  warmth: {
    much: 'friendly kind warm nice gentle',
    little: 'cold harsh rude distant',
    moreOf: 'friendlier kinder warmer nicer gentler',
    lessOf: 'colder harsher ruder',
  },
}

interface Word {
  readonly trait: string
  readonly sign: number
  readonly form: 'plain' | 'comparative' | 'thing'
}

const lexicon: ReadonlyMap<string, Word> = new Map(
  Object.entries(vocabulary).flatMap(([trait, { much, little, moreOf = '', lessOf = '', things = '' }]) =>
    (
      [
        [much, 1, 'plain'],
        [little, -1, 'plain'],
        [moreOf, 1, 'comparative'],
        [lessOf, -1, 'comparative'],
        [things, 1, 'thing'],
      ] as const
    ).flatMap(([list, sign, form]) =>
      list
        .split(' ')
        .filter(Boolean)
        .map((word) => [word, { trait, sign, form }] as const),
    ),
  ),
)

/** All words about the manner of speech, and those of their degree. */
export const mannerWords: ReadonlySet<string> = new Set([...lexicon.keys(), 'fewer', 'few', 'enough', 'zero'])

/** "You are too kind" and "too funny" thank. */
const praises = new Set(['kind', 'nice', 'funny'])

/** Finds each word about the manner of speech that has a degree, or that stands alone. */
export function mannersIn(words: readonly string[]): readonly Manner[] {
  return words.flatMap((text, at) => {
    const word = lexicon.get(text)
    const degree = word && (word.form === 'thing' ? degreeOfThing(words, at) : degreeOf(words, at, word.form))
    if (!word || !degree || (degree.kind === 'complaint' && praises.has(text))) return []
    const adverb = text === 'plainly' || (text === 'detail' && words[degree.from - 1] === 'in') ? 'any' : 'simple'
    const isAdverb = adverb === 'any' || (text.endsWith('ly') && text !== 'friendly' && text !== 'silly')
    return [
      {
        trait: word.trait,
        target: word.sign * degree.sign,
        kind: degree.kind,
        from: degree.from,
        to: degree.to ?? at,
        noun: word.form === 'thing',
        ...(isAdverb && { adverb }),
      } as const,
    ]
  })
}

interface Degree {
  readonly sign: number
  readonly kind: Manner['kind']
  readonly from: number
  readonly to?: number
}

function degreeOf(words: readonly string[], at: number, form: Word['form']): Degree | undefined {
  const [third = '', second = '', first = ''] = [words[at - 3], words[at - 2], words[at - 1]]
  const isRefused = isNegated(words.slice(0, at))
  if (form === 'comparative')
    return /^(?:no|any|how|the|not)$/.test(first) || isRefused ? undefined : { sign: 1, kind: 'wish', from: at }
  if (words[at + 1] === 'enough') return isRefused ? { sign: 1, kind: 'complaint', from: at, to: at + 1 } : undefined
  if (first === 'too') {
    if (!isRefused) return { sign: -1, kind: 'complaint', from: at - 1 }
    return second === 'be' || (second === 'not' && !/^(?:is|are|was|were)$/.test(third))
      ? { sign: -1, kind: 'wish', from: at - 1 }
      : undefined
  }
  if (first === 'so' || first === 'that')
    return isRefused && !/\b(?:is|are|was|were) not\b/.test(words.join(' '))
      ? { sign: -1, kind: 'wish', from: at - 1 }
      : first === 'so' && /^(?:why|must|do)$/.test(words[0]!)
        ? { sign: -1, kind: 'complaint', from: at - 1 }
        : undefined
  if (isRefused) return undefined
  if (first === 'more') return { sign: 1, kind: 'wish', from: at - 1 }
  if (first === 'less') return { sign: -1, kind: 'wish', from: at - 1 }
  return { sign: 1, kind: first === 'as' ? 'wish' : 'plain', from: at }
}

function degreeOfThing(words: readonly string[], at: number): Degree | undefined {
  const [second = '', first = ''] = [words[at - 2], words[at - 1]]
  const isRefused =
    isNegated(words.slice(0, at)) || words.slice(0, at).some((word) => /^(?:skip|drop|avoid|cut|lose)$/.test(word))
  if (first === 'more')
    return isRefused || second === 'no'
      ? second === 'no' || words.includes('not')
        ? { sign: -1, kind: 'wish', from: at - 2 }
        : undefined
      : { sign: 1, kind: 'wish', from: at - 1 }
  if (/^(?:fewer|less|no|without|zero)$/.test(first)) return { sign: -1, kind: 'wish', from: at - 1 }
  if (first === 'many' || first === 'much')
    return second === 'too' || (/^(?:so|that)$/.test(second) && (isRefused || words[0] === 'why'))
      ? { sign: -1, kind: isRefused ? 'wish' : 'complaint', from: at - 2 }
      : undefined
  if (first === 'few' || first === 'little')
    return second === 'too' ? { sign: 1, kind: 'complaint', from: at - 2 } : undefined
  if (first === 'enough') return isRefused ? { sign: 1, kind: 'complaint', from: at - 1 } : undefined
  if (/^(?:detail|details|words|text)$/.test(words[at]!)) return undefined
  if (isRefused) return { sign: -1, kind: 'wish', from: at }
  return /^(?:use|add|with|as|in|include|like|prefer)$/.test(first) ? { sign: 1, kind: 'wish', from: at } : undefined
}

function isNegated(before: readonly string[]): boolean {
  return before.some((word) => /^(?:not|stop|never)$/.test(word))
}
