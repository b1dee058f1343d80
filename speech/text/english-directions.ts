import * as lists from './english-direction-words.ts'

/** What a direction tells: what happens, or how something is said. */
export type Direction = 'action' | 'manner'

type Form = 'base' | 's' | 'ing' | 'ed'

/** Nouns that say nothing without a word about them. */
const vague = /^(?:look|manner|register|volume|pitch|pride|panic|passion|irony|emotion|voices?)$/i

/** What is sung or said. */
const sung = new Set(['tune', 'song', 'melody', 'goodbye', 'hello', 'line', 'lines', 'words', 'note', 'lyrics'])

/** Made of such words and yet no direction. */
const idioms =
  /^(?:hands (?:down|up|on|off)|face (?:to face|up|down)|hand in hand|head (?:over heels|on|first)|back (?:to back|and forth)|eye to eye|heart to heart|neck and neck|thumbs up|in a (?:look|glance|gesture))$/i

/** No direction is longer, in words. */
const longest = 12

/**
 * Reads what stands in parentheses as an English stage direction, by a small grammar: clauses of a verb of voice or
 * movement with what belongs to it, of a body's part and what it does, or of a manner (`in a low voice`, `very excited`).
 * A word that is in none of the lists ends it, so that ordinary asides (`in 1998`, `a friend of mine`) are none.
 */
export function directionIn(inside: string): Direction | undefined {
  if (idioms.test(inside.trim())) return undefined
  const clauses = inside.split(/[,;:.–—]|\s-\s|\.\.\./).map(wordsOf)
  const told = clauses.filter((words) => words.length > 0)
  if (told.length === 0 || told.reduce((sum, words) => sum + words.length, 0) > longest) return undefined
  const found = told.map((words) => readClause(words, 0))
  // An adverb that means little alone may stand beside a direction: `seriously now, leaning forward`.
  if (!told.every((words, index) => found[index] !== undefined || words.every(isAdverb))) return undefined
  return found.includes('action') ? 'action' : found.find((kind) => kind !== undefined)
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}]+(?:[.'’-][\p{L}\p{M}]+)*/gu)?.map((word) => word.replace('’', "'")) ?? []
}

const has = (set: ReadonlySet<string>, word: string | undefined): boolean =>
  word !== undefined && set.has(word.toLowerCase())

/** The clause from a word to the end, which must be one whole direction. */
function readClause(words: readonly string[], start: number): Direction | undefined {
  if (words.slice(start).every((word) => has(lists.fixed, word)) && start < words.length) return 'action'
  let at = start
  while (at < words.length && isAdverb(words[at]!)) at += 1
  const rest = words.length - at
  if (rest === 0)
    return words.slice(start).some((word) => isMoodAdverb(word) && !has(lists.comments, word)) ? 'manner' : undefined
  return readAction(words, at) ? 'action' : readManner(words, at) ? 'manner' : undefined
}

function readAction(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.persons, words[at])) at += 1
  while (at > start && at < words.length && isAdverb(words[at]!)) at += 1
  const verb = words[at]
  if (verb === undefined) return false
  const expressive = formOf(lists.expressive, verb)
  if (expressive && (expressive !== 'base' || (at + 1 === words.length && has(lists.lone, verb)))) {
    const object = readNoun(words, at + 1, [lists.bodies, sung])
    if (readTail(words, at + 1) || (object > 0 && readTail(words, object))) return true
  }
  const moving = formOf(lists.moving, verb)
  if ((moving === 's' || moving === 'ing') && readComplement(words, at + 1)) return true
  return readAttempt(words, at) || readBody(words, start) || readScene(words, start)
}

/** What a verb of movement needs: where to, or what. */
function readComplement(words: readonly string[], at: number): boolean {
  if (at >= words.length) return false
  const things = [lists.expressions, lists.bodies, lists.voices, lists.targets, lists.persons]
  const isParticle = has(lists.particles, words[at])
  const ends = [
    isParticle || has(lists.moods, words[at]) || isMoodAdverb(words[at]!) ? at + 1 : -1,
    readPhrase(words, at),
    readNoun(words, at, things),
    isParticle ? readNoun(words, at + 1, things) : -1,
  ]
  return ends.some((end) => end > at && readTail(words, end))
}

/** `trying not to laugh`, `starts to cry`, `about to burst into tears`. */
function readAttempt(words: readonly string[], at: number): boolean {
  if (
    !/^(?:try|trying|tries|struggl(?:es|ing)|start(?:s|ing)|begin(?:s|ning)|pretend(?:s|ing)|fail(?:s|ing)|about|pausing|pauses)$/i.test(
      words[at]!,
    )
  )
    return false
  let next = at + 1
  if (words[next] === 'not') next += 1
  if (words[next] !== 'to') return false
  const verb = words[next + 1]
  if (verb === undefined) return false
  if (formOf(lists.expressive, verb) === 'base') return readTail(words, next + 2)
  return formOf(lists.moving, verb) === 'base' && readComplement(words, next + 2)
}

/** `voice trembling`, `her eyes widen`, `arms crossed`, `hands on hips`. */
function readBody(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.determiners, words[at])) at += 1
  if (!has(lists.bodies, words[at]) && !has(lists.voices, words[at])) return false
  at += 1
  while (at < words.length && isAdverb(words[at]!)) at += 1
  const next = words[at]
  if (next === undefined) return false
  const states = [lists.happenings, lists.moods, lists.manners, lists.particles]
  const isState = formOf(lists.expressive, next) || formOf(lists.moving, next) || states.some((set) => has(set, next))
  if ((isState || /[^e]ed$/.test(next)) && readTail(words, at + 1)) return true
  const end = readPhrase(words, at)
  return end > 0 && readTail(words, end)
}

/** `door slams`, `the crowd cheers`, `music plays softly`. */
function readScene(words: readonly string[], start: number): boolean {
  const at = readNoun(words, start, [lists.stages])
  return at > 0 && at < words.length && has(lists.happenings, words[at]) && readTail(words, at + 1)
}

function readManner(words: readonly string[], start: number): boolean {
  const first = words[start]!.toLowerCase()
  const feelings = [lists.voices, lists.expressions]
  const ends: number[] = []
  if (/^(?:in|with|under|through|without)$/.test(first)) {
    ends.push(readNoun(words, start + 1, feelings))
    // A part of the body needs a word about it: `with open arms`, `through gritted teeth`.
    if (/^(?:with|through)$/.test(first) && words.length > start + 2)
      ends.push(readNoun(words, start + 1, [lists.bodies]))
  }
  if (first === 'to')
    ends.push(
      readNoun(words, start + 1, [
        new Set([
          'himself',
          'herself',
          'themselves',
          'myself',
          'self',
          'audience',
          'camera',
          'crowd',
          'mic',
          'room',
          'others',
          'everyone',
        ]),
      ]),
    )
  if (/^(?:after|following)$/.test(first))
    ends.push(readNoun(words, start + 1, [new Set(['moment', 'beat', 'pause', 'silence'])]))
  if (
    /^(?:(?:on|down on) (?:his|her|their) knees|out of breath|on the (?:verge|brink|edge) of (?:tears|crying|laughter)|(?:close to|near|in) tears|(?:deep|lost) in thought|fade (?:in|out|to black)|cut to black|(?:end|new) (?:of )?scene|silence (?:falls|follows)|(?:enter|exit|exits|enters|aside to) \p{Lu}\p{Ll}+|sounds? of (?:thunder|footsteps|rain|wind|applause|laughter|glass|an? \p{Ll}+))$/iu.test(
      words.slice(start).join(' '),
    )
  )
    return true
  const noun = readNoun(words, start, feelings)
  if (noun > 0 && !vague.test(words[noun - 1]!) && formOf(lists.expressive, words[start]!) !== 'ing') ends.push(noun)
  if (noun > start + 1 && formOf(lists.expressive, words[start]!) !== 'ing') ends.push(noun)
  // Trembling voice, but not a crying shame.
  if (readNoun(words, start, [lists.voices]) > start + 1) ends.push(readNoun(words, start, [lists.voices]))
  // Raised eyebrow, clenched fists; ominous music.
  if (formOf(lists.moving, words[start]!) === 'ed') ends.push(readNoun(words, start + 1, [lists.bodies]))
  if (isQualifier(words[start]!))
    ends.push(readNoun(words, start, [new Set(['music', 'noise', 'noises', 'sounds', 'breathing'])]))
  let at =
    /^(?:mock|faux|fake)$/.test(first) || (has(lists.manners, words[start]) && words[start + 1] === 'and')
      ? start + 1
      : start
  if (at > start && words[at] === 'and') at += 1
  while (
    has(lists.moods, words[at]) ||
    (at > start && /^(?:and|but|yet)$/.test(words[at] ?? '') && has(lists.moods, words[at + 1])) ||
    (at > start && /^(?:and|but|yet)$/.test(words[at] ?? '') && isMoodAdverb(words[at + 1] ?? '')) ||
    (at > start && isAdverb(words[at] ?? 'x'))
  )
    at += 1
  if (at === words.length) return !(words.length === start + 1 && has(lists.ambiguous, words[start]))
  if (
    /^(?:sounding|sounds|looking|looks|getting|feeling|becoming|growing|grows|more|being|seems|seemingly)$/.test(
      first,
    ) &&
    words.length > start + 1
  )
    return readClause(words, start + 1) === 'manner'
  return ends.some((end) => end > start && readTail(words, end))
}

/** What may follow: adverbs, where to, at whom, and with `and` or `while` another direction. */
function readTail(words: readonly string[], start: number): boolean {
  let at = start
  while (at < words.length) {
    const word = words[at]!
    const end = readPhrase(words, at)
    if (end > 0) at = end
    else if (isAdverb(word) || has(lists.particles, word) || has(lists.moods, word)) at += 1
    else if (word === 'and' && has(lists.particles, words[at + 1])) at += 2
    else if (/^(?:and|but|while|then|as|before)$/i.test(word)) {
      if (formOf(lists.expressive, words[at + 1] ?? '') === 'base') return false
      return readClause(words, at + 1) !== undefined
    } else if (word === 'to' && formOf(lists.expressive, words[at + 1] ?? '') === 'base') at += 2
    else return /ing$/.test(word) && readAction(words, at)
  }
  return true
}

/** A preposition and what it governs; -1 where there is none. */
function readPhrase(words: readonly string[], at: number): number {
  if (!has(lists.prepositions, words[at])) return -1
  const next = words[at + 1]
  if (
    next !== undefined &&
    /^(?:to|at|with|towards?|for|from|like|of|behind|beside|near)$/i.test(words[at]!) &&
    /^\p{Lu}\p{Ll}+$/u.test(next)
  )
    return at + 2
  return readNoun(words, at + 1, [
    lists.voices,
    lists.expressions,
    lists.bodies,
    lists.targets,
    lists.persons,
    lists.stages,
  ])
}

/** An article, words about it, and one of these nouns, with `of` another; gives where it ends, -1 where it does not. */
function readNoun(words: readonly string[], start: number, heads: readonly ReadonlySet<string>[]): number {
  const isHead = (word: string | undefined) => heads.some((set) => has(set, word))
  let at = start
  while (has(lists.determiners, words[at])) at += 1
  while (
    at < words.length &&
    (isQualifier(words[at]!) || /^(?:and|almost)$/.test(words[at]!)) &&
    !(isHead(words[at]) && !isHead(words[at + 1]) && !isQualifier(words[at + 1] ?? ''))
  )
    at += 1
  if (!isHead(words[at])) return -1
  while (isHead(words[at + 1])) at += 1
  if (words[at + 1] === 'of') {
    const end = readNoun(words, at + 2, [lists.expressions, lists.bodies, lists.targets, lists.voices])
    return end
  }
  return at + 1
}

function isQualifier(word: string): boolean {
  return (
    has(lists.moods, word) ||
    has(lists.manners, word) ||
    isAdverb(word) ||
    formOf(lists.expressive, word) === 'ing' ||
    /^(?:ed|ing)$/.test(formOf(lists.moving, word) ?? '')
  )
}

function isAdverb(word: string): boolean {
  return has(lists.intensifiers, word) || /^[a-z]{3,}ly$/i.test(word)
}

const moodAdverbs = new Set([...lists.moods, ...lists.manners].map(adverbOf))

function isMoodAdverb(word: string): boolean {
  return has(moodAdverbs, word)
}

function adverbOf(adjective: string): string {
  if (/[^aeiou]le$/.test(adjective)) return adjective.replace(/e$/, 'y')
  if (/^(?:shy|sly|wry|dry)$/.test(adjective)) return `${adjective}ly`
  if (/ic$/.test(adjective)) return `${adjective}ally`
  return `${adjective.replace(/([^aeiou])y$/, '$1i')}ly`
}

const forms = new Map([lists.expressive, lists.moving].map((set) => [set, conjugate(set)]))

function formOf(set: ReadonlySet<string>, word: string): Form | undefined {
  return forms.get(set)?.get(word.toLowerCase())
}

function conjugate(set: ReadonlySet<string>): ReadonlyMap<string, Form> {
  const all = new Map<string, Form>()
  for (const verb of set) {
    const stem = verb.replace(/([^e])e$/, '$1')
    const soft = verb.replace(/([^aeiou])y$/, '$1i')
    all.set(`${soft}${/(?:s|sh|ch|x|z|i|o)$/.test(soft) ? 'es' : 's'}`, 's')
    all.set(`${stem}ing`, 'ing')
    all.set(`${soft.replace(/e$/, '')}ed`, 'ed')
    // `nod` doubles its consonant; a form that nobody writes does no harm.
    if (/[^aeiou][aeiou][bdgmnprt]$/.test(verb)) {
      all.set(`${verb}${verb.at(-1)}ing`, 'ing')
      all.set(`${verb}${verb.at(-1)}ed`, 'ed')
    }
  }
  for (const verb of set) all.set(verb, 'base')
  return all
}
