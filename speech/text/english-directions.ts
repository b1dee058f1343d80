import * as phrases from './english-direction-phrases.ts'
import * as lists from './english-direction-words.ts'
import {
  afterAdverbs,
  formAny,
  formOf,
  has,
  isAdverb,
  isMoodAdverb,
  isQualifier,
  wordsOf,
} from './english-word-forms.ts'

/** The content of a direction: an action, or the manner in which something is said. */
export type Direction = 'action' | 'manner'

/** No direction is longer, in words. */
export const longest = 12

/**
 * Reads the text between parentheses as an English stage direction, by a small grammar: clauses of a verb of voice or
 * movement with its objects and places, of a body's part and its verb, or of a manner (`in a low voice`, `very excited`).
 * A word that is in none of the lists ends it, so that ordinary asides (`in 1998`, `a friend of mine`) are none.
 */
export function directionIn(inside: string): Direction | undefined {
  const trimmed = inside.trim()
  if (/^[-:+`'"]|--|`/.test(trimmed) || phrases.habits.test(trimmed)) return undefined
  const text = trimmed.replace(/(?<![.!?…])[.!?…]+$/, '')
  const alone = text.replace(phrases.appended, '')
  if (alone !== text && alone !== '') return directionIn(alone)
  if (phrases.idioms.test(text)) return undefined
  if (phrases.capitalised.test(text)) return 'action'
  const isManner =
    (phrases.described.test(text) && !/^(?:with|from|to|the|he|she|which|who|of|in|on) /i.test(text)) ||
    phrases.spokenIn.test(text) ||
    phrases.spokenWith.test(text) ||
    phrases.formulas.test(trimmed.replace(/(?<![!?…])[!?…]+$/, ''))
  return isManner ? 'manner' : directionOfClauses(inside)
}

function directionOfClauses(inside: string): Direction | undefined {
  const clauses = inside.split(/[,;:.–—]|\s-\s|\.\.\./).map(wordsOf)
  const told = clauses.filter((words) => words.length > 0)
  if (told.length === 0 || told.reduce((sum, words) => sum + words.length, 0) > longest) return undefined
  const found = told.map((words) => readClause(words, 0))
  // An adverb that means little alone may stand beside a direction: `seriously now, leaning forward`.
  if (!told.every((words, index) => found[index] !== undefined || words.every(isAdverb))) return undefined
  return found.includes('action') ? 'action' : found.find((kind) => kind !== undefined)
}

/** The clause from a word to the end, which must be one whole direction. */
export function readClause(words: readonly string[], start: number): Direction | undefined {
  const rest = words.slice(start)
  if (rest.length > 0 && rest.every((word) => has(lists.fixed, word))) return 'action'
  const degree = phrases.degrees.exec(rest.join(' '))
  if (degree && readClause(words, start + degree[0].trim().split(' ').length) === 'manner') return 'manner'
  if (has(lists.moods, rest[0]) && phrases.moodObjects.test(rest.slice(1).join(' '))) return 'manner'
  const at = afterAdverbs(words, start)
  if (at >= words.length)
    return rest.some((word) => isMoodAdverb(word) && !has(lists.comments, word)) ? 'manner' : undefined
  return readAction(words, at) || readOpen(words, at) ? 'action' : readManner(words, at) ? 'manner' : undefined
}

/** Clauses of a known verb and any nouns: `tears up the contract`, `staggers against the wall`. */
function readOpen(words: readonly string[], start: number): boolean {
  if (has(lists.beforeParticiple, words[start]) && formAny(words[start + 1]) === 'ing')
    return readOpen(words, start + 1) || readAction(words, start + 1)
  if (readLanguage(words, start) || readCaption(words, start) || readNamed(words, start)) return true
  if (phrases.pointers.test(words.slice(start).join(' '))) return false
  if (readAddressee(words, start) || readOwned(words, start)) return true
  const at = afterSubject(words, start)
  return words[at] !== undefined && readPredicate(words, at, at > start, /^(?:they|all|both|the)$/i.test(words[start]!))
}

/** `speaking Spanish`, `talking in French`. */
function readLanguage(words: readonly string[], start: number): boolean {
  if (!has(lists.speaking, words[start])) return false
  const next = words[start + 1] === 'in' ? start + 2 : start + 1
  return words.length > next && words.slice(next).every((word) => has(lists.languages, word))
}

/** `Maria laughs`. */
function readNamed(words: readonly string[], start: number): boolean {
  const [name, verb] = [words[start], words[start + 1]]
  if (name === undefined || verb === undefined || !/^\p{Lu}\p{L}+$/u.test(name)) return false
  if (formAny(name) || has(lists.grammatical, name)) return false
  return /^(?:s|ing)$/.test(formOf(lists.expressive, verb) ?? '') && readTail(words, start + 2)
}

/** `to Nora`, `to the waiter`. */
function readAddressee(words: readonly string[], start: number): boolean {
  if (!/^to$/i.test(words[start] ?? '')) return false
  const isArticled = /^(?:the|his|her|their)$/.test(words[start + 1] ?? '')
  const named = isArticled ? start + 2 : start + 1
  if (named !== words.length - 1 || !has(lists.addressees, words[named])) return false
  return isArticled || /^\p{Lu}/u.test(words[named]!)
}

/** A verb and within six words something of his or hers that can be touched: `drums with two fingers on his sleeve`. */
function readOwned(words: readonly string[], start: number): boolean {
  const owner = words.findIndex((word, index) => index > start && /^(?:his|her)$/i.test(word))
  if (owner < 0 || owner >= start + 7 || owner + 1 >= words.length) return false
  if (!/^(?:s|ing)$/.test(formAny(words[start]) ?? '')) return false
  return !isLasting(words[start]!) && !has(lists.belongings, words[owner + 1])
}

const lasting = prefixes(lists.lastingStems)
const commonGoing = prefixes(lists.commonGoingStems)

function prefixes(stems: ReadonlySet<string>): RegExp {
  return new RegExp(`^(?:${[...stems].join('|')})`, 'i')
}

function isLasting(verb: string): boolean {
  return lasting.test(verb)
}

/** The place behind a subject with its adverbs, or `start` where there is none. */
function afterSubject(words: readonly string[], start: number): number {
  const isGroup =
    words[start] === 'the' && /^(?:others|two|men|women|children|boys|girls)$/.test(words[start + 1] ?? '')
  if (!isGroup && !has(lists.subjects, words[start])) return start
  return afterAdverbs(words, start + (isGroup ? 2 : 1))
}

/** The verb at a place and all behind it. A subject before it and its number decide which forms fit. */
function readPredicate(words: readonly string[], at: number, hasSubject: boolean, plural: boolean): boolean {
  const verb = words[at]!
  const isForm = (list: ReadonlySet<string>) => {
    const form = formOf(list, verb)
    return form === 's' || form === 'ing' || (hasSubject && plural && form === 'base')
  }
  if (afterAdverbs(words, at + 1) === words.length) {
    if (hasSubject && plural) return lists.meetings.has(verb) || formOf(lists.expressive, verb) === 'base'
    return has(lists.loneForms, verb) || (hasSubject && (isForm(lists.going) || isForm(lists.expressive)))
  }
  if (has(lists.instructing, verb) && words[at + 1] === 'the') return false
  if (isForm(lists.handling) && readHandled(words, at + 1, hasSubject || formOf(lists.handling, verb) === 's'))
    return true
  const takes = isForm(lists.taking) || (isForm(lists.moving) && !isLasting(verb))
  if (takes && readProp(words, at + 1, hasSubject)) return true
  return isForm(lists.going) && readWay(words, at + 1, commonGoing.test(verb))
}

/** Something heard, as captions for the deaf tell it: `engine revving`, `indistinct chatter`. */
function readCaption(words: readonly string[], start: number): boolean {
  const isPlural = words.length === start + 2 && /^\p{L}{3,}s$/u.test(words[start]!)
  if (isPlural && has(lists.pluralSounds, words[start + 1])) return true
  const from = /^(?:the|a|an)$/i.test(words[start] ?? '') && words.length > start + 1 ? start + 1 : start
  for (let at = from; at < words.length && at - from < 4 && !has(lists.grammatical, words[at]); at++) {
    if (at === from) continue
    const form = formOf(lists.sounding, words[at]!)
    const isThing = from > start || has(lists.stages, words[at - 1]) || has(lists.props, words[at - 1])
    const isHeardVerb = (form === 'ing' || (form === 's' && isThing)) && !formAny(words[from])
    const isHeardNoun = has(lists.sounds, words[at]) && words.slice(from, at).every(isHeard)
    if ((isHeardVerb || isHeardNoun) && readEcho(words, at + 1)) return true
  }
  return false
}

function isHeard(word: string): boolean {
  return isQualifier(word) || has(lists.soundQualities, word)
}

/** Behind a sound: how and where it is heard. */
function readEcho(words: readonly string[], start: number): boolean {
  const rest = words.slice(start)
  const isPlain = (word: string) => isAdverb(word) || has(lists.particles, word) || /^(?:open|shut)$/i.test(word)
  return rest.every(isPlain) || phrases.echoes.test(rest.join(' '))
}

/** The end of a name for a thing or a person: an article or an owner, then up to three words; -1 where there is none. */
function readThing(words: readonly string[], start: number, isBare: boolean | 'one'): number {
  let at = start
  const isNamed = /^(?:a|an|the|his|her|their|my|your|another|some|this|both|one)$/i.test(words[at] ?? '')
  if (isNamed) at += 1
  else if (/^\p{Lu}\p{Ll}+$/u.test(words[at] ?? '')) return at + 1
  else if (!isBare) return -1
  const first = at
  while (
    at < words.length &&
    at - first < 3 &&
    !has(lists.grammatical, words[at]) &&
    !has(lists.particles, words[at]) &&
    !/^\p{L}{2,}ly$/u.test(words[at]!)
  )
    at += 1
  if (at === first || (!isNamed && isBare === 'one' && at > first + 1)) return -1
  if (words[at] === 'of') return readThing(words, at + 1, true)
  return at
}

/** The objects of a verb of handling: `him the key`, `up the contract`, `coffee`. */
function readHandled(words: readonly string[], start: number, isBare: boolean): boolean {
  let at = start
  while (has(lists.particles, words[at])) at += 1
  const isWhom =
    has(lists.objectPronouns, words[at]) &&
    !(words[at]!.toLowerCase() === 'her' && readThing(words, at, false) === words.length)
  if (isWhom) {
    const after = at + 1
    if (readOpenTail(words, after)) return true
    const end = readThing(words, after, true)
    return end > 0 && readOpenTail(words, end)
  }
  const end = readThing(words, at, isBare || has(lists.props, words[at]) ? 'one' : false)
  return end > 0 && readOpenTail(words, end)
}

/** The object of a verb of taking: a prop, or a thing with an owner. */
function readProp(words: readonly string[], start: number, hasSubject: boolean): boolean {
  let at = start
  while (has(lists.separable, words[at])) at += 1
  if (
    has(lists.objectPronouns, words[at]) &&
    words[at] !== 'it' &&
    (words[at] !== 'her' || at + 1 === words.length || readOpenTail(words, at + 1))
  )
    return readOpenTail(words, at + 1)
  const isOwned = /^(?:his|her|their|my|your)$/i.test(words[at] ?? '')
  if (
    /^an?$/i.test(words[at] ?? '') &&
    /^(?:open|clos|clear|start|cross|check|follow|fac|set)/i.test(words[start - 1]!)
  )
    return false
  const end = readThing(words, at, false)
  if (end > 0 && (isOwned || hasSubject || has(lists.props, words[end - 1]))) return readOpenTail(words, end)
  return has(lists.props, words[at]) && formAny(words[at - 1]) !== 'ing' && readOpenTail(words, at + 1)
}

/** The way of a movement or a look. */
function readWay(words: readonly string[], start: number, isCommon: boolean): boolean {
  let at = start
  const isPlace = (index: number) => has(lists.prepositions, words[index]) && has(lists.determiners, words[index + 1])
  while (!isPlace(at) && (has(lists.particles, words[at]) || isAdverb(words[at]))) at += 1
  if (at === words.length) return at > start
  if (!has(lists.prepositions, words[at]) && !has(lists.placePrepositions, words[at])) return readOpenTail(words, at)
  if (isCommon) {
    const end = readThing(words, /^next to$/i.test(`${words[at]} ${words[at + 1]}`) ? at + 2 : at + 1, false)
    if (
      end > 0 &&
      !has(lists.props, words[end - 1]) &&
      !has(lists.targets, words[end - 1]) &&
      !has(lists.bodies, words[end - 1]) &&
      !/^(?:to|towards?)$/i.test(words[at]!)
    )
      return false
  }
  return readOpenTail(words, at)
}

/** Behind an open clause: adverbs, places of any name, and another direction after `and` or `while`. */
function readOpenTail(words: readonly string[], start: number): boolean {
  let at = start
  while (at < words.length) {
    const word = words[at]!
    if (/^(?:and|then|but|while|as|before)$/i.test(word)) {
      const next = words[at + 1] === 'then' ? at + 2 : at + 1
      return readClause(words, next) !== undefined
    }
    if (isAdverb(word) || has(lists.particles, word) || has(lists.moods, word)) at += 1
    else if (word !== 'for' && (has(lists.prepositions, word) || has(lists.placePrepositions, word))) {
      const noun = word === 'next' ? at + 2 : at + 1
      if (has(lists.objectPronouns, words[noun]) && (words[noun] !== 'her' || readThing(words, noun, false) < 0))
        at = noun + 1
      else {
        const end = readThing(words, noun, true)
        if (end < 0) return false
        at = end
      }
    } else return at > start && /ing$/.test(word) && (readAction(words, at) || readOpen(words, at))
  }
  return true
}

function readAction(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.persons, words[at])) at += 1
  if (at > start) at = afterAdverbs(words, at)
  const verb = words[at]
  if (verb === undefined) return false
  const expressive = formOf(lists.expressive, verb)
  if (expressive && (expressive !== 'base' || (at + 1 === words.length && has(lists.lone, verb)))) {
    const object = readNoun(words, at + 1, [lists.bodies, lists.utterances])
    if (readTail(words, at + 1) || (object > 0 && readTail(words, object))) return true
  }
  const moving = formOf(lists.moving, verb)
  if ((moving === 's' || moving === 'ing') && readComplement(words, at + 1)) return true
  return readAttempt(words, at) || readBody(words, start) || readScene(words, start)
}

/** The place or object that a verb of movement needs. */
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
  if (
    has(lists.thingParticiples, words[at - 1]) &&
    at + 1 === words.length &&
    has(lists.targets, words[at]) &&
    !has(lists.particles, words[at])
  )
    return false
  return ends.some((end) => end > at && readTail(words, end))
}

/** `trying not to laugh`, `starts to cry`, `about to burst into tears`. */
function readAttempt(words: readonly string[], at: number): boolean {
  if (!has(lists.attempts, words[at])) return false
  const next = words[at + 1] === 'not' ? at + 2 : at + 1
  if (words[next] !== 'to') return false
  const verb = words[next + 1]
  if (verb === undefined) return false
  if (formOf(lists.expressive, verb) === 'base' || lists.attempted.has(verb)) return readTail(words, next + 2)
  return formOf(lists.moving, verb) === 'base' && readComplement(words, next + 2)
}

/** `voice trembling`, `her eyes widen`, `arms crossed`, `hands on hips`. */
export function readBody(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.determiners, words[at])) at += 1
  if (!has(lists.bodies, words[at]) && !has(lists.voices, words[at])) return false
  at = afterAdverbs(words, at + 1)
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
  if (at > 0 && /^(?:go|goes|come|comes|turn|turns) (?:out|up|down|on|off)$/.test(words.slice(at).join(' ')))
    return true
  return at > 0 && at < words.length && has(lists.happenings, words[at]) && readTail(words, at + 1)
}

/** How something is said: a mood, a tone, a face, or a whole phrase of place and state. */
function readManner(words: readonly string[], start: number): boolean {
  if (phrases.scenes.test(words.slice(start).join(' '))) return true
  if (afterMoods(words, start) === words.length)
    return !(words.length === start + 1 && has(lists.ambiguous, words[start]))
  if (has(lists.seeming, words[start]) && words.length > start + 1) return readClause(words, start + 1) === 'manner'
  const ends = [...phraseEnds(words, start), ...nounEnds(words, start)]
  return ends.some((end) => end > start && readTail(words, end))
}

/** The ends of a manner that begins with a preposition: `in a low voice`, `to himself`, `after a beat`. */
function phraseEnds(words: readonly string[], start: number): readonly number[] {
  const feelings = [lists.voices, lists.expressions]
  switch (words[start]!.toLowerCase()) {
    case 'with':
    case 'through': {
      const moods = /^with$/i.test(words[start]!) ? [...feelings, lists.attitudes] : feelings
      const end = readNoun(words, start + 1, moods)
      // A part of the body needs a word about it: `with open arms`, `through gritted teeth`.
      return words.length > start + 2 ? [end, readNoun(words, start + 1, [lists.bodies])] : [end]
    }
    case 'in':
    case 'under':
    case 'without':
      return [readNoun(words, start + 1, feelings)]
    case 'to':
      return [readNoun(words, start + 1, [lists.listeners])]
    case 'after':
    case 'following':
      return [readNoun(words, start + 1, [lists.intervals])]
    default:
      return []
  }
}

/** The ends of a manner that is a noun: `a trembling voice`, `raised eyebrow`, `ominous music`. */
function nounEnds(words: readonly string[], start: number): readonly number[] {
  const first = words[start]!
  const ends: number[] = []
  const noun = readNoun(words, start, [lists.voices, lists.expressions])
  // `trembling voice`, but not `a crying shame`.
  const isParticiple = formOf(lists.expressive, first) === 'ing'
  if (noun > 0 && !isParticiple && (noun > start + 1 || !has(lists.vagueNouns, words[noun - 1]))) ends.push(noun)
  const voice = readNoun(words, start, [lists.voices])
  if (voice > start + 1) ends.push(voice)
  if (formOf(lists.moving, first) === 'ed') ends.push(readNoun(words, start + 1, [lists.bodies]))
  if (isQualifier(first)) ends.push(readNoun(words, start, [lists.ambience]))
  return ends
}

/** The place behind a run of moods with their adverbs and `and`, `but` or `yet` between them. */
function afterMoods(words: readonly string[], start: number): number {
  let at = start
  if (/^(?:mock|faux|fake)$/i.test(words[start]!)) at += 1
  else if (has(lists.manners, words[start]) && words[start + 1] === 'and') at += 1
  if (at > start && words[at] === 'and') at += 1
  while (has(lists.moods, words[at]) || (at > start && continuesMoods(words, at))) at += 1
  return at
}

function continuesMoods(words: readonly string[], at: number): boolean {
  const [before, word, next] = [words[at - 1], words[at], words[at + 1]]
  const isContrast = (conjunction: string | undefined) => conjunction === 'but' || conjunction === 'yet'
  if ((word === 'and' || isContrast(word)) && (has(lists.moods, next) || isMoodAdverb(next))) return true
  if (isContrast(word) && has(lists.manners, next)) return true
  return (isContrast(before) && has(lists.manners, word)) || isAdverb(word)
}

/** Behind a direction: adverbs, places, persons, and with `and` or `while` another direction. */
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

/** The end of a preposition with its noun; -1 where there is none. */
function readPhrase(words: readonly string[], at: number): number {
  if (!has(lists.prepositions, words[at])) return -1
  const next = words[at + 1]
  if (next !== undefined && has(lists.beforeName, words[at]) && /^\p{Lu}\p{Ll}+$/u.test(next)) return at + 2
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
  if (words[at + 1] === 'of')
    return readNoun(words, at + 2, [lists.expressions, lists.bodies, lists.targets, lists.voices])
  return at + 1
}
