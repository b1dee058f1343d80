import { languageOf, wordsIn } from '../memory/language-words.ts'
import { plain, termsOf, wordsOf } from '../memory/ranking-terms.ts'
import type { ProfileSlot } from '../profile-line.ts'
import { lazily } from '../words/lazily.ts'
import { readWords } from '../words/read-words.ts'
import { profileLimits, subjectOf } from './profile.ts'
import { ownSentences } from './sentences.ts'

/** Patterns by subject, such as a food, of all languages. */
type Patterns = Readonly<Record<string, string>>

/**
 * The words by which the rules of a profile know a sentence, in 15 languages. Patterns see a sentence in lower case with straight
 * apostrophes; `{few}` stands for up to three words.
 */
interface RuleWords {
  /** How one says of oneself, and of somebody else, that one is, has, or does not take something; and that one does again. */
  readonly subjects: Readonly<Record<string, Subject>>
  /** In Japanese and Chinese the author need not be named: a sentence is theirs where it names nobody else first. */
  readonly unspaced: { readonly others: string; readonly avoid: string; readonly again: string }
  /** Close kin by class; each language with its "my". */
  readonly kin: Patterns
  /** Words for one person who was named before. */
  readonly pronouns: string
  /** What a doctor says that is not to be done for a time: "no running for a month". */
  readonly limits: string
  /** Stems of what an allergy or an intolerance is called. */
  readonly allergies: string
  /** What a food does to somebody who does not bear it, as "sends me to hospital". */
  readonly reactions: string
  /** "It is no allergy after all", without a substance. */
  readonly noAllergy: string
  /** What people do not eat or drink, by subject; a manner of eating belongs to what it leaves out. */
  readonly foods: Patterns
  /** Names of manners of eating. */
  readonly diets: Patterns
  readonly faiths: string
  readonly conditions: Patterns
  /** "I take" with a class of medicines that doctors ask for. */
  readonly medicines: string
  /** What a child cannot, may not or fears to do; and words by which it is so for a while alone. */
  readonly childLimits: string
  /** What tells of a lasting trait, by slot and language; where the more particular rules find nothing. */
  readonly standing: Readonly<Record<StandingSlot, Patterns>>
  readonly standingOwn: {
    /** Words for the user's household, and beginnings of sentences that leave out "I". */
    readonly words: string
    readonly starts: string
    /** Others, of whom a sentence then is. */
    readonly others: string
    /** Words of what is past, and no habit. */
    readonly past: Patterns
  }
  readonly passing: string
  /** Imperatives of answering, with the words that may stand before them. */
  readonly answerVerbs: string
  /** The same where the verb comes last, and of no space between words. */
  readonly answerVerbsAtEnd: string
  readonly languages: string
  /** Manners of answering, and whole wishes about them that need no verb of answering. */
  readonly manners: Patterns
  readonly wishes: Patterns
  /** "Call me N", "my name is N": N stands for a name. */
  readonly addresses: readonly string[]
}

interface Subject {
  /** "I am", "I have". */
  readonly am: string
  /** "is", "has", behind a name or a word of kinship. */
  readonly is: string
  /** "I do not eat", "I cannot drink". */
  readonly avoid: string
  readonly avoids: string
  /** "I eat … again". */
  readonly again: string
}

const ruleWords = readWords<RuleWords>('profile')

/** A line that a message gives, and the sentence that it comes from. */
export interface FoundLine {
  readonly slot: ProfileSlot
  readonly about: string
  readonly text: string
  readonly sentence: string
}

/** Somebody whom the profile knows. */
export interface Person {
  readonly name: string
  readonly kin: string
}

/** Lines of one message; a text with more is no talk. */
const mostFound = 10

/**
 * The lines that a user's message gives by the rules: how to address them, in which language and manner to answer, what they or
 * their family must not eat, believe or suffer from, and who is who. Only sentences of the author's own count, and only those
 * about the author, close kin, and people whom the profile knows.
 */
export function linesIn(message: string, known: readonly Person[]): readonly FoundLine[] {
  const found: FoundLine[] = []
  const people = [...known]
  for (const sentence of ownSentences(message)) {
    const folded = sentence.toLowerCase().replace(/[’‘ʼ`]/g, "'")
    for (const { person, text } of peopleIn(sentence)) {
      people.push(person)
      found.push({ slot: 'people', about: `${person.kin}:${person.name.toLowerCase()}`, text, sentence })
    }
    const before = found.length
    for (const rule of [address, language, manner, allergy, diet, health, childLimit, faith]) {
      const line = rule(folded, people)
      if (line) found.push({ ...line, text: sentence, sentence })
    }
    const lasting = found.length === before ? standingIn(folded, people) : undefined
    if (lasting) found.push({ slot: lasting, about: '', text: sentence, sentence })
  }
  return found.slice(0, mostFound).map((line) => ({ ...line, about: line.about.slice(0, profileLimits.about) }))
}

/**
 * A message that begins with a pronoun, with the person in its place whom the message before it names: "He is allergic to nuts"
 * behind "My nephew Eskil comes on Saturday". Undefined where it begins otherwise, or the other names nobody, or several.
 */
export function withPersonOf(
  earlier: string,
  message: string,
): { readonly message: string; readonly rest: string } | undefined {
  const pronoun = pronounSearch(message.toLowerCase())
  if (pronoun?.index !== 0) return undefined
  const named = peopleIn(earlier).map(({ text }) => text)
  const called = kinSearches.flatMap(([, search]) => search(earlier.toLowerCase())?.[0] ?? [])
  const phrases = named.length > 0 ? named : called
  const [phrase] = phrases
  if (phrase === undefined || phrases.length > 1) return undefined
  const rest = message.slice(pronoun[0].length)
  return { message: `${phrase[0]!.toUpperCase()}${phrase.slice(1)}${rest}`, rest: rest.trim() }
}

/** Whether a message begins with "he", "she" or the like. */
export function beginsWithPronoun(message: string): boolean {
  return pronounSearch(message.toLowerCase())?.index === 0
}

type Rule = (sentence: string, people: readonly Person[]) => Pick<FoundLine, 'slot' | 'about'> | undefined

/** Texts that do not part their words by spaces. */
const isUnspaced = (text: string) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)

/**
 * A pattern of whole words, and the same for languages without spaces between them; each made at its first use. Patterns and texts
 * are in lower case: ignoring case takes V8 twice as long to compile, some 150 ms over all of them.
 */
function wordPattern(source: string): (text: string) => RegExpExecArray | null {
  const made = new Map<boolean, RegExp>()
  return (text) => {
    const isLoose = isUnspaced(text)
    let pattern = made.get(isLoose)
    if (!pattern) {
      pattern = new RegExp(isLoose ? `(?:${source})` : `(?<![\\p{L}\\p{M}])(?:${source})(?![\\p{L}\\p{M}])`, 'u')
      made.set(isLoose, pattern)
    }
    return pattern.exec(text)
  }
}

type Search = ReturnType<typeof wordPattern>

function searchesOf(table: Readonly<Record<string, string>>): readonly (readonly [topic: string, search: Search])[] {
  return Object.entries(table).map(([topic, source]) => [topic, wordPattern(source)])
}

const foodSearches = searchesOf(ruleWords.foods)
const dietSearches = searchesOf(ruleWords.diets)
const conditionSearches = searchesOf(ruleWords.conditions)
const mannerSearches = searchesOf(ruleWords.manners)
const kinSearches = searchesOf(ruleWords.kin)
const pronounSearch = wordPattern(ruleWords.pronouns)
const allergySearch = wordPattern(ruleWords.allergies)
const noAllergySearch = wordPattern(ruleWords.noAllergy)
const reactionSearch = wordPattern(ruleWords.reactions)
const medicineSearch = wordPattern(ruleWords.medicines)
const childLimitSearch = wordPattern(ruleWords.childLimits)
const limitSearch = wordPattern(ruleWords.limits)
const passingSearch = wordPattern(ruleWords.passing)
const faithSearch = wordPattern(ruleWords.faiths)
const languageSearch = wordPattern(ruleWords.languages)

function topicIn(searches: readonly (readonly [string, Search])[], text: string): string | undefined {
  return searches.find(([, search]) => search(text))?.[0]
}

/** Words of a language between a subject and what is said of it, and behind it where the verb is last. */
const between = String.raw`(?:[ ,'’-]+[\p{L}\p{M}\p{N}'’-]+){0,4}?[ ,'’-]*`

const all = Object.values(ruleWords.subjects)
/** Patterns of all languages in place of one. */
const anyOf = (sources: readonly string[]) => sources.join('|').replaceAll('{few}', String.raw`(?:[\p{L}'-]+ ){0,3}?`)
const amPattern = new RegExp(`(?<![\\p{L}\\p{M}])(?:${all.map(({ am }) => am).join('|')})${between}$`, 'u')
const isPattern = new RegExp(`^(?:${between})(?:${all.map(({ is }) => is).join('|')})?(?:${between})$`, 'u')
const avoidSearch = wordPattern(anyOf([...all.map(({ avoid }) => avoid), ruleWords.unspaced.avoid]))
const avoidsSearch = wordPattern(anyOf([...all.map(({ avoids }) => avoids), ruleWords.unspaced.avoid]))
const againSearch = wordPattern(anyOf([...all.map(({ again }) => again), ruleWords.unspaced.again]))
const otherSearch = new RegExp(`^.{0,12}(?:${ruleWords.unspaced.others})`, 'u')
/** The author by the ending of a verb or noun, in Turkish. */
const turkishSelf = /(?:[ıiuü]m|y[ıiuü]m) (?:var|yok)|(?:yen|gan|man|stas[ıi]y|[ıi]k|ım|tik|budist)[ıiuü]m(?![\p{L}])/iu
/** A statement that begins with what is so: "Allergic to penicillin". */
const bare = /^(?:severely |very |highly |stark |schwer |très |muy |molto |muito |zeer |silnie |сильная |сильно )?$/iu

/** Whom a statement is about: '' for the author; undefined where that is nobody whom the profile may speak of. */
function personOf(sentence: string, at: number, people: readonly Person[]): string | undefined {
  const before = sentence.slice(0, at)
  const other = otherIn(before, people)
  if (other && (isUnspaced(sentence) || isPattern.test(before.slice(other.end)))) return other.person
  if (isUnspaced(sentence)) return otherSearch.test(sentence) || mentionsOf(before) ? undefined : ''
  if (amPattern.test(before) || bare.test(before)) return ''
  return turkishSelf.test(sentence) ? '' : undefined
}

/** Somebody else's family or a title before what is said, in a language without spaces. */
function mentionsOf(before: string): boolean {
  return /さん|先生|の(?:同僚|友達|友人|上司)/u.test(before)
}

/** The last of close kin and of known people that a text names. */
function otherIn(
  text: string,
  people: readonly Person[],
): { readonly person: string; readonly end: number } | undefined {
  const found = [
    ...kinSearches.flatMap(([name, search]) => {
      const match = search(text)
      if (!match) return []
      const ofKin = people.filter((each) => each.kin === name)
      const person = ofKin.length === 1 ? ofKin[0]!.name.toLowerCase() : name
      return [{ person, end: match.index + match[0].length }]
    }),
    ...people.flatMap(({ name }) => {
      const at = text.indexOf(name.toLowerCase())
      return at < 0 ? [] : [{ person: name.toLowerCase(), end: at + name.length }]
    }),
  ]
  return found.sort((left, right) => right.end - left.end)[0]
}

const address: Rule = (sentence) => {
  const match = addressPattern().exec(sentence)
  if (!match) return undefined
  const name = groupIn(match)
  return name === undefined || noName.test(name) ? undefined : { slot: 'address', about: 'name' }
}

/** The text of the one named group that took part in a match. */
function groupIn({ groups = {} }: RegExpExecArray): string | undefined {
  return Object.values(groups).find((value): value is string => typeof value === 'string' && value !== '')
}

const oneName = String.raw`[\p{L}\p{M}][\p{L}\p{M}\p{N}.'-]*(?: [\p{L}\p{M}][\p{L}\p{M}.'-]*){0,2}?`
const nameEnd = String.raw`(?=[ ,.!、。！،।]*$|[,.!、。！，،] ?|(?:です|だ|といいます|と|って)|(?: (?:from now on|please|instead|for short|and|ab jetzt|bitte|und|désormais|et|a partir de ahora|por favor|y|d'ora in poi|per favore|e|vanaf nu|alsjeblieft|en|od teraz|proszę|i|теперь|пожалуйста|и|відтепер|будь ласка|і|de|deyin|diye|diyebilirsin|कहो|कहें|कहिए|बुलाओ|बुलाएँ|बुलाइए|कहकर|के|है|nennen|noemen))(?![\p{L}\p{M}]))`
const addressPattern = lazily(
  () =>
    new RegExp(
      `^(?:${ruleWords.addresses
        .map((source, at) => {
          let count = 0
          const bounded = source.replace(/ N\?/g, ' N')
          return bounded.replace(/(?<![A-Za-z])N(?![A-Za-z])/g, () => `(?<name${at}x${count++}>${oneName})${nameEnd}`)
        })
        .join('|')})`,
      'u',
    ),
)

/** Words behind "call me" that are no name. */
const noName =
  /^(?:back|later|tomorrow|today|tonight|soon|now|when|if|at|on|in|a|an|the|crazy|old|maybe|again|an?other|whatever|anything|not|paranoid|morgen|später|zurück|an|plus tard|demain|mañana|luego|domani|più tardi|amanhã|depois|later|jutro|завтра|позже|пізніше|yarın|غدا|明天|什么|何)(?![\p{L}\p{M}])/iu

const verbFirst = new RegExp(`^${ruleWords.answerVerbs}`, 'u')
const verbLast = new RegExp(`(?:${ruleWords.answerVerbsAtEnd})(?:[^\\p{L}]*|吧|。)$`, 'u')
const unspacedVerb =
  /(?:请|請)?(?:用|以).{1,12}(?:回答|回复|回覆|说话|交流)|(?:回答|返答|返信|返事)(?:は|を|时|時|请|請|要)/u

/** Whether a sentence asks for answers of a kind, and not for one text. */
function asksForAnswers(sentence: string): boolean {
  return verbFirst.test(sentence) || verbLast.test(sentence) || unspacedVerb.test(sentence)
}

/** A thing to be written, in whose language or form the wish then is. */
const oneText =
  /(?<![\p{L}])(?:this|that|the (?:following|question)|poem|letter|essay|diese[nrs]?|folgende\p{L}*|ceci|este|questa|questo|dit|deze|это(?:т|му)?)(?![\p{L}])/iu

const language: Rule = (sentence) =>
  asksForAnswers(sentence) && !oneText.test(sentence) && languageSearch(sentence)
    ? { slot: 'language', about: 'language' }
    : undefined

const wishSearches = lazily(() =>
  Object.entries(ruleWords.wishes).map(
    ([topic, source]) => [topic, new RegExp(`^(?:${source})(?![\\p{L}\\p{M}])|^(?:${source})$`, 'u')] as const,
  ),
)

const manner: Rule = (sentence) => {
  if (passingSearch(sentence)) return undefined
  const wish = wishSearches().find(([, pattern]) => pattern.test(sentence))
  if (wish) return { slot: 'manner', about: wish[0] }
  if (!asksForAnswers(sentence) || oneText.test(sentence)) return undefined
  const behind = verbFirst.exec(sentence)
  const topic = topicIn(mannerSearches, behind ? sentence.slice(behind[0].length) : sentence)
  return topic === undefined ? undefined : { slot: 'manner', about: topic }
}

const allergy: Rule = (sentence, people) => {
  const none = noAllergySearch(sentence)
  if (none) return { slot: 'allergy', about: subjectOf(substanceIn(sentence) ?? '', otherPerson(sentence, people)) }
  const food = reactionSearch(sentence) && topicIn(foodSearches, sentence)
  if (food) return { slot: 'allergy', about: subjectOf(food, '') }
  const match = allergySearch(sentence)
  const person = match ? personOf(sentence, match.index, people) : undefined
  if (!match || person === undefined || jokes.test(sentence.slice(match.index))) return undefined
  // "A peanut allergy", "Erdnussallergie", "fıstığa alerjim var".
  const compound = /^(\p{L}{3,}?)-?aller/iu.exec(match[0])?.[1] ?? ''
  const substance =
    substanceIn(`${compound} ${sentence.slice(match.index + match[0].length)}`) ??
    substanceIn(sentence.slice(otherIn(sentence.slice(0, match.index), people)?.end ?? 0, match.index))
  return { slot: 'allergy', about: subjectOf(substance ?? 'allergy', person) }
}

/** What people say they are allergic to without being so. */
const jokes =
  /(?<![\p{L}])to (?:work|working|mondays?|mornings?|meetings?|people|nonsense|bullshit|stupidity|exercise)(?![\p{L}])/iu

function otherPerson(sentence: string, people: readonly Person[]): string {
  return otherIn(sentence, people)?.person ?? ''
}

const allergyWords = new RegExp(ruleWords.allergies, 'gu')

/** The food or the first telling word that a text names. */
function substanceIn(sentence: string): string | undefined {
  const text = sentence.replace(allergyWords, ' ')
  const food = topicIn(foodSearches, text)
  if (food !== undefined) return food
  const words = wordsOf(text).map(plain)
  const { functions } = wordsIn(languageOf(text, words))
  return termsOf(text).find((term) => term.length > 2 && !functions.has(term) && !fillers.has(term))
}

/** Words of such sentences that name no substance, as `termsOf` gives them. */
const fillers: ReadonlySet<string> = new Set(
  termsOf(
    `severely severe very highly bad strong really longer anymore still also since test says said result after all found out turns
     doctor stark schwer nicht mehr grave muy mucho molto muito erg zeer heel silną silna сильная сильно очень дуже çok شديدة
     من على ضد gegen contra contro contre voor tegen на до karşı karsi mam have habe tengo tengo ho tenho heb benim bende meine`,
  ),
)

const diet: Rule = (sentence, people) => {
  const named = dietSearches.flatMap(([topic, search]) => {
    const match = search(sentence)
    const person = match ? personOf(sentence, match.index, people) : undefined
    return person === undefined ? [] : [subjectOf(topic, person)]
  })[0]
  if (named !== undefined) return { slot: 'diet', about: named }
  const own = avoidSearch(sentence) ?? againSearch(sentence)
  const of = own ? otherIn(sentence.slice(0, own.index + own[0].length), people) : undefined
  const others = otherIn(sentence, people)
  const isOfOther = others && avoidsSearch(sentence.slice(others.end))
  const person = isUnspaced(sentence) ? of?.person : isOfOther ? others.person : own ? '' : undefined
  if (isUnspaced(sentence) && !of && (!own || otherSearch.test(sentence))) return undefined
  const food = topicIn(foodSearches, sentence) ?? (own ? leftOut(sentence, own) : undefined)
  if (food === undefined || (person === undefined && !own)) return undefined
  return { slot: 'diet', about: subjectOf(food, person ?? '') }
}

/** What one does not eat or drink that is no food of the lists: "I don't drink coffee any more". */
function leftOut(sentence: string, { 0: words, index }: RegExpExecArray): string | undefined {
  if (!eatsOrDrinks.test(words) || passingSearch(sentence)) return undefined
  const clause = /^[^,.;:!?]*/u.exec(sentence.slice(index + words.length))![0]
  if (isNoFood.test(clause)) return undefined
  return substanceIn(clause) ?? substanceIn(sentence.slice(0, index))
}

/** What stands in a food's place and is none. */
const isNoFood = /^\s*(?:and|or|another|out|much|enough|together|alone|und|oder|allein|et|y|e|en|i|и)(?![\p{L}\p{M}])/u

const eatsOrDrinks = /eat|drink|ess|trink|mang|boi|com|beb|bev|eet|jem|pij|jad|yemi|içmi|ем|пью|їм|п'ю|آكل|أشرب|खा|पी/u

const health: Rule = (sentence, people) => {
  if (medicineSearch(sentence)) return { slot: 'health', about: subjectOf('medicine', '') }
  if (limitSearch(sentence) && !otherIn(sentence, people)) return { slot: 'health', about: 'limit' }
  for (const [topic, search] of conditionSearches) {
    const match = search(sentence)
    const person = match ? personOf(sentence, match.index, people) : undefined
    if (person !== undefined) return { slot: 'health', about: subjectOf(topic, person) }
  }
  return undefined
}

/** What a child of the author cannot or may not do, among what is said of the family. */
const childLimit: Rule = (sentence, people) => {
  const child = otherIn(
    sentence,
    people.filter(({ kin: each }) => children.has(each)),
  )
  const match = child && childLimitSearch(sentence.slice(child.end))
  const isOfChild =
    child &&
    (children.has(child.person) ||
      people.some(({ name, kin: each }) => name.toLowerCase() === child.person && children.has(each)))
  if (!match || !isOfChild || passingSearch(sentence)) return undefined
  return { slot: 'people', about: subjectOf(`limit ${match[0]}`, child.person) }
}

const children: ReadonlySet<string> = new Set(['son', 'daughter', 'child'])

type StandingSlot = 'health' | 'diet' | 'faith' | 'manner' | 'address' | 'note'

/** Characters of the longest sentence in which a word alone tells of a lasting trait. */
const longestStanding = 160

/** Languages in which a verb needs its pronoun: there a sentence about the user has a word for the user. */
const withPronouns: ReadonlySet<string> = new Set(['en', 'de', 'fr', 'nl'])

/** By their sources. */
const standingSearches = new Map<string, Search>()
const ownSearch = wordPattern(ruleWords.standingOwn.words)
const ownStart = new RegExp(`^(?:${ruleWords.standingOwn.starts})(?![\\p{L}\\p{M}])`, 'u')
const othersSearch = wordPattern(ruleWords.standingOwn.others)

/**
 * The slot of a lasting trait of the user or close kin that a word of the sentence tells of: what they must not eat, suffer from,
 * believe, or never do. It asks for less than the rules above, since a line too many costs a few tokens, and one that is
 * missing may harm.
 */
function standingIn(sentence: string, people: readonly Person[]): StandingSlot | undefined {
  if (sentence.length > longestStanding || passingSearch(sentence)) return undefined
  const words = wordsOf(sentence).map(plain)
  const language = languageOf(sentence, words)
  const { self } = wordsIn(language)
  const other = othersSearch(sentence)
  const isOwn =
    words.some((word) => self.has(word)) ||
    ownStart.test(sentence) ||
    ownSearch(sentence) !== null ||
    otherIn(sentence, people) !== undefined ||
    (!withPronouns.has(language) && !other)
  if (!isOwn) return undefined
  for (const slot of ['health', 'diet', 'faith', 'manner', 'address', 'note'] as const) {
    const match = searchIn(ruleWords.standing[slot], language)?.(sentence)
    if (!match || (other && (slot === 'faith' || other.index < match.index))) continue
    if (slot !== 'note' || !searchIn(ruleWords.standingOwn.past, language)?.(sentence)) return slot
  }
  return undefined
}

/** The pattern of a language; undefined where it has none. */
function searchIn(patterns: Patterns, language: string): Search | undefined {
  const source = patterns[language]
  if (source === undefined) return undefined
  const known = standingSearches.get(source) ?? wordPattern(source)
  standingSearches.set(source, known)
  return known
}

const faith: Rule = (sentence, people) => {
  const match = faithSearch(sentence)
  const person = match ? personOf(sentence, match.index, people) : undefined
  return person === undefined ? undefined : { slot: 'faith', about: subjectOf('faith', person) }
}

const name = String.raw`\p{Lu}[\p{L}\p{M}'’-]+`
/** Names in scripts without capitals are recognised by what stands around them. */
const smallName = String.raw`[\p{L}\p{M}]{2,12}?`

interface KinPattern {
  readonly kin: string
  readonly pattern: RegExp
}

/** The patterns of "my son Ilyas" and "Ilyas is my son" by class of kin. */
const kinPatterns = lazily((): readonly KinPattern[] =>
  Object.entries(ruleWords.kin).map(([kinName, source]) => {
    // Capitals tell names, so the words of kin are spelled in both cases, and German ones with a capital.
    const words = source.replace(/(^|\||\(\?:)([a-zа-яіїєґ])/gu, (_all, start: string, letter: string) => {
      return `${start}[${letter.toUpperCase()}${letter}]`
    })
    const eitherCase = words.replace(
      /(?<=[a-z)?] (?:\(\?:)?)[a-z](?=[a-zäöü]{3})/gu,
      (letter) => `[${letter.toUpperCase()}${letter}]`,
    )
    const called = String.raw`(?:['’]s name is| is called| is named| called| named|,| heißt| namens| s['’]appelle| se llama| si chiama| se chama| heet| ma na imię| imieniem|(?: по имени)? зовут| звати|ın adı|in adı)?`
    return {
      kin: kinName,
      pattern: new RegExp(
        [
          String.raw`(?<![\p{L}\p{M}])(?:${eitherCase})${called} (?<a>${name})(?![\p{L}\p{M}])`,
          String.raw`(?<![\p{L}\p{M}])(?<b>${name})(?: is| ist| est| es| è| é| is| to|,| —| -) (?:${eitherCase})(?![\p{L}\p{M}])`,
          String.raw`(?:${source})の(?<c>[\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}ー]{2,8}?)(?=[はがにをも、])|(?:${source})(?:の名前)?は(?<d>[\p{Script=Katakana}\p{Script=Han}ー]{2,8})(?:です|という|と言い)`,
          String.raw`(?:${source})(?:的名字)?(?:叫|名叫)(?<e>\p{Script=Han}{2,4}?)(?=[，,。！]|$|在|是|今|明|要|不|对|對)`,
          String.raw`(?:${source})(?: का नाम| की नाम)? (?<f>${smallName})(?= है| को| की)`,
          String.raw`(?:${source}) (?:اسمه|اسمها) (?<g>${smallName})(?![\p{L}\p{M}])`,
        ].join('|'),
        'u',
      ),
    }
  }),
)

/** The people of one's family whom a text names, with the words that say so. */
export function peopleIn(text: string): readonly { readonly person: Person; readonly text: string }[] {
  return kinPatterns().flatMap(({ kin: kinName, pattern }) => {
    const match = pattern.exec(text)
    const found = match && groupIn(match)
    if (!match || !found || notNames.test(found)) return []
    return [{ person: { name: found, kin: kinName }, text: match[0].trim() }]
  })
}

/** Capitals that begin no name. */
const notNames = /^(?:I|And|But|Ich|Und|Der|Die|Das|Er|Sie|It|He|She|This|That|[Нн]о|[Ии]|को|का|की|बहुत)$/u
