import { isTold } from './kinds.ts'
import { relativesIn } from './kinship.ts'
import { wordsIn } from './language-words.ts'
import { isPinned, type MemoryEntry, type Metadata, speakerOf } from './memory.ts'
import { plain, termsOf } from './ranking-terms.ts'
import { endingTerms, longestSlotText, readSlots, type Slot, type SlotReading, wordsOfSlot } from './slots.ts'

/** An earlier memory, and the slots that it has from one that it replaced: "79 now" is a weight by what it ended. */
export interface Earlier {
  readonly entry: MemoryEntry
  readonly inherited?: ReadonlySet<Slot>
}

/** A statement that may end earlier ones. */
export interface News {
  readonly entry: MemoryEntry
  /** The index terms by which the earlier ones are looked for: its own, and those of its slots. */
  readonly terms: readonly string[]
  /** Those of the earlier statements that it ends; few, since a wrong end costs more than a missed one. */
  readonly ended: (earlier: readonly Earlier[]) => readonly MemoryEntry[]
}

const mostEnded = 5

/** The most terms of each slot by which earlier statements are looked for. */
const mostTerms = 24

/** Slots in which a new state ends the one before without a word of change. */
const single: ReadonlySet<Slot> = new Set(['age', 'weight'])

/** Whom the news of a birth name whoever had the child. */
const newborn: ReadonlySet<string> = new Set(['mother', 'child', 'son', 'daughter'])

/** Nouns that stand for a purchase or a plan that was named before. */
const standIns = new Set(
  `hauskauf wohnungskauf kaufvertrag deal sale offer contract it that thing everything whole plan geschaft deal kauf vertrag plan sache ganze vente affaire achat contrat
   projet tout compra venta trato plan affare vendita acquisto piano negocio venda contrato deal koop plan transakcja umowa plan zakup anlasma
   satis plan сделка план покупка продажа угода план купівля الصفقة الخطة सौदा`.split(/\s+/),
)

const family = {
  allergy: /allerg|uczul|alerg|alerj|алерг|аллерг|حساسي|एलर्जी|アレルギー|过敏|過敏/u,
  diabetes: /diabet|diyabet|zucker|cukrzyc|диабет|діабет|سكري|मधुमेह|डायबिटीज|糖尿病/u,
  meatless:
    /vegetar|vegan|vejetar|wegetar|wegan|вегетар|веган|نباتي|शाकाहारी|वीगन|ベジタリアン|菜食|素|meat|fleisch|viande|carne|vlees|mieso|мяс|لحم|मांस|肉|fish|fisch/u,
  alcohol: /alco|alko|wine|wein|beer|drink|trink|bois|bev|beb|drik|pije|icki|алког|пью|شرب|शराब|पीता|酒|飲|喝/u,
} as const

/**
 * Reads a statement for what it ends. Undefined where it can end nothing: most statements, and all questions, answers and lore, long
 * texts, and those that leave open what they say.
 */
export function newsIn(entry: MemoryEntry): News | undefined {
  if (entry.content.length > longestSlotText || !isTold(entry)) return undefined
  const reading = readSlots(entry.content)
  const number = bareNumber(reading.folded)
  if (reading.isOfOthers) return undefined
  const hasAmount = amountsIn(entry.content, reading.language).size > 0 && tellsOfChange(reading)
  if (reading.isUnsure && reading.endings.length + reading.ends.size === 0) return undefined
  const slots = new Set([...reading.ends, ...(reading.ends.has('plan') ? (['purchase'] as const) : [])])
  for (const slot of reading.states) if (single.has(slot) || slot === 'number') slots.add(slot)
  if (number !== undefined) for (const slot of single) slots.add(slot)
  if (reading.isUnsure || (slots.size === 0 && reading.endings.length === 0 && !hasAmount)) return undefined
  const termsFor = (text: string) => [...tellingOf(text, reading.language)].slice(0, mostTerms)
  const texts = [entry.content, ...[...slots].map((slot) => wordsOfSlot(slot, reading.language))]
  return {
    entry,
    terms: [...new Set(texts.flatMap(termsFor))],
    ended: (earlier) => endedBy(entry, reading, number, earlier),
  }
}

function endedBy(
  entry: MemoryEntry,
  reading: SlotReading,
  number: number | undefined,
  earlier: readonly Earlier[],
): readonly MemoryEntry[] {
  const relatives = relativesIn(entry.content)
  const words = new Set(reading.folded.match(/[\p{L}\p{M}]+/gu) ?? [])
  const all = earlier
    .filter((each) => mayEnd(each.entry, entry))
    .map((each) => {
      const own = readSlots(each.entry.content)
      return { ...each, reading: own, states: new Set([...own.states, ...(each.inherited ?? [])]) }
    })
    .sort((a, b) => b.entry.timestamp - a.entry.timestamp)
  const readings = all.filter(({ reading: own, entry: { content } }) =>
    isSame(relativesIn(content), relatives, own, (word) => words.has(word)),
  )
  const found = new Set<MemoryEntry>()
  const end = (chosen: readonly Known[]) => {
    for (const { entry: older } of chosen.slice(0, mostEnded)) found.add(older)
  }
  const telling = new Set([...tellingOf(entry.content, reading.language)].filter((term) => !eating.has(term)))
  const stating = (slot: Slot) => readings.filter(({ states }) => states.has(slot))
  const shares = ({ entry: { content }, reading: own }: Known) =>
    [...tellingOf(content, own.language)].some((term) => telling.has(term))
  if (number !== undefined) end(valuesNear(number, stating))
  for (const slot of single)
    if (reading.states.has(slot)) end(stating(slot).filter(({ entry: { content } }) => /\d/.test(content)))
  if (reading.states.has('number'))
    end(stating('number').filter(({ entry: older }) => isOtherValue(older, entry, reading)))
  end(readings.filter(({ entry: older }) => isOtherAmount(older, entry, reading)))
  // A birth and a death concern somebody else, who is often not named again.
  for (const slot of ['pregnancy', 'pet'] as const)
    if (reading.ends.has(slot)) {
      const stated = all.filter(({ states }) => states.has(slot))
      const named = stated.filter(shares)
      const isUnnamed = [...relatives].every((person) => newborn.has(person))
      end(named.length > 0 ? named : isUnnamed ? onlyOne(stated, shares) : [])
    }
  if (isOwnNews(entry, reading, readings)) {
    for (const slot of ['home', 'work', 'partner', 'school'] as const) if (reading.ends.has(slot)) end(stating(slot))
    if (reading.ends.has('vehicle')) end(onlyOne(stating('vehicle'), shares))
    if (reading.ends.has('diet')) end(stating('diet').filter((older) => isOneFamily(reading, older) || shares(older)))
    if (reading.ends.has('health'))
      end(
        onlyOne(
          stating('health').filter((older) => isSameIllness(reading, older)),
          shares,
        ),
      )
    if (reading.ends.has('plan'))
      end(calledOff([...stating('purchase'), ...stating('plan')], telling, entry.timestamp, reading, shares))
  }
  for (const clause of reading.endings) end(readings.filter((older) => isSaidToEnd(clause, reading, older)))
  return [...found].slice(0, mostEnded)
}

interface Known extends Earlier {
  readonly reading: SlotReading
  readonly states: ReadonlySet<Slot>
}

/** Whether an earlier memory is one that news of the same speaker can end. */
function mayEnd(older: MemoryEntry, newer: MemoryEntry): boolean {
  const speakers = [speakerOf(older.metadata), speakerOf(newer.metadata)]
  return (
    older.id !== newer.id &&
    older.timestamp < newer.timestamp &&
    older.content.length <= longestSlotText &&
    isTold(older) &&
    !isPinned(older.metadata) &&
    !isEnded(older.metadata) &&
    (speakers[0] === speakers[1] || speakers.includes(''))
  )
}

/** Whether a later memory has ended one. */
export function isEnded({ ended_by, valid_to }: Metadata): boolean {
  return typeof ended_by === 'string' && typeof valid_to === 'number'
}

/** Whether both speak of the same relatives; one that the older one names on the side, behind its first words, does not count. */
function isSame(
  older: ReadonlySet<string>,
  newer: ReadonlySet<string>,
  { folded }: SlotReading,
  named: (word: string) => boolean,
): boolean {
  if ([...newer].some((person) => !older.has(person))) return false
  const first = folded.split(' ').slice(0, 4)
  const subject = relativesIn(first.join(' '))
  // "My sister Solveig" goes on as "Solveig".
  return (
    [...subject].every((person) => newer.has(person)) ||
    first.some((word, at) => at > 0 && relativesIn(first[at - 1]!).size > 0 && named(word))
  )
}

/** Whether news without a word for the user are no other person's: "Tom got divorced" ends nothing of the user. */
function isOwnNews(
  { content }: MemoryEntry,
  { language, folded, isAtStart }: SlotReading,
  earlier: readonly Known[],
): boolean {
  const { self, functions } = wordsIn(language)
  const words = folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const first = words[0] ?? ''
  const isCapital = /^\p{Lu}/u.test(content.trim())
  if (
    language === 'de' ||
    language === 'tr' ||
    isAtStart ||
    !isCapital ||
    functions.has(first) ||
    words.some((word) => self.has(word))
  )
    return true
  const [term = first] = termsOf(first)
  return isNoun(first) || earlier.some(({ entry }) => termsOf(entry.content).includes(term))
}

/** Common first words of such news that are no names. */
const nouns = new Set(
  `test tests result results biopsy scan deal sale contract trip wedding party holiday concert plan plans started moved since finally just sold
   changed new quit retired depuis desde dal od artik test resultat prueba resultado esame`.split(/\s+/),
)

function isNoun(word: string): boolean {
  return nouns.has(word) || standIns.has(word)
}

/** Characters of a text, or of a slot's words, that are read. */
const longestListed = 1_200

function tellingOf(content: string, language: string): ReadonlySet<string> {
  const { functions, weak } = wordsIn(language)
  const words = content.slice(0, longestListed).match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []
  return new Set(
    words.flatMap((word) => {
      const letters = plain(word.toLowerCase())
      return functions.has(letters) || weak.has(letters) ? [] : termsOf(word)
    }),
  )
}

/** A number of few words about now, as "79 now" and "77.5 this morning": it is news of a value that was stated before. */
function bareNumber(folded: string): number | undefined {
  const found =
    /^(?:(?:this morning|today|heute(?: fruh| morgen)?|ce matin|esta manana|stamattina|hoje|vanmorgen|dzis(?: rano)?|bu sabah|сегодня(?: утром)?|сьогодні|now|down to|up to|already|just|jetzt|nur noch|maintenant|ahora|adesso|agora|nu|teraz|simdi|теперь|уже|тепер|вже|الآن|अब|今|现在) ?)*(\d{1,3}(?:[.,]\d{1,2})?)(?: ?(?:kg|kilos?|lbs?|pounds?|years|jahre|ans|anos|anni|jaar|lat|кг|kilo|公斤|キロ))?(?:[ ,]+\p{L}+){0,3}[.!]?$/u.exec(
      folded,
    )
  return found && found[0].length <= 40 && /\p{L}/u.test(folded) ? Number(found[1]!.replace(',', '.')) : undefined
}

/** The latest weight or age that a number can be news of. */
function valuesNear(number: number, stating: (slot: Slot) => readonly Known[]): readonly Known[] {
  const figureOf = ({ entry }: Known) => Number(/\d+(?:[.,]\d+)?/.exec(entry.content)?.[0].replace(',', '.'))
  const [weight] = stating('weight')
  const [age] = stating('age')
  if (weight && Math.abs(figureOf(weight) - number) <= 0.25 * number) return stating('weight')
  return age && number > figureOf(age) && number <= figureOf(age) + 3 ? stating('age') : []
}

/** Whether both state the same number or code with other values: all their telling words are the same. */
function isOtherValue(older: MemoryEntry, newer: MemoryEntry, { language }: SlotReading): boolean {
  const isValue = (word: string) =>
    /\d/.test(word) || (word.length > 1 && word === word.toUpperCase() && /\p{Lu}/u.test(word))
  const partsOf = ({ content }: MemoryEntry) => {
    const words = content.match(/[\p{L}\p{M}\p{N}]+(?:[-.,:][\p{L}\p{N}]+)*/gu) ?? []
    // A unit is short.
    const told = words.filter((word) => isValue(word) || (word.length > 3 && tellingOf(word, language).size > 0))
    return {
      // "In harbour 7 lies a boat" says nothing of a number, and the next harbour no other one.
      isAtEnd: isValue(told.findLast((word) => !changing.has(plain(word.toLowerCase()))) ?? ''),
      values: words.filter(isValue).join(' '),
      telling: tellingOf(words.filter((word) => !isValue(word)).join(' '), language),
    }
  }
  const [before, after] = [partsOf(older), partsOf(newer)]
  if (!before.isAtEnd || !after.isAtEnd || before.values === after.values) return false
  const telling = [...after.telling].filter((term) => !changing.has(term))
  const old = [...before.telling]
  return telling.length > 0 && telling.length === old.length && telling.every((term) => before.telling.has(term))
}

/** A number with its unit: "20 milligrams", "2100 zł"; of a currency also in front of it. */
const amounts =
  /(\p{Sc})\s?(\d[\d.,]*)|(?<![\p{L}\d.,:/-])(\d(?:[\d.,]*\d)?)(?:\s?(\p{Sc}|%|\p{L}{2,}))?(?![\p{L}\d:])/gu

/** A unit without its ending; none where a word behind the number says when. */
function unitOf(word: string, language: string): string {
  const letters = plain(word.toLowerCase())
  return changing.has(letters) || wordsIn(language).functions.has(letters) ? '' : (termsOf(letters)[0] ?? letters)
}

function amountsIn(text: string, language: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(amounts)].map(
    ([, sign, first, second, unit]) => [unitOf(sign ?? unit ?? '', language), (first ?? second)!] as const,
  )
  return new Map(found)
}

/** Characters of a statement of one amount; a longer text has it among other things. */
const longestAmount = 160

/**
 * Whether both tell an amount in one unit of the same thing, which the newer one says has changed or holds since a time. Without a
 * unit they have to share two words, and each tells no other amount.
 */
function isOtherAmount(older: MemoryEntry, newer: MemoryEntry, news: SlotReading): boolean {
  if (!tellsOfChange(news) || Math.max(older.content.length, newer.content.length) > longestAmount) return false
  const [[before, ...moreBefore], [after, ...moreAfter]] = [
    [...amountsIn(older.content, news.language)],
    [...amountsIn(newer.content, news.language)],
  ]
  if (!before || !after || moreBefore.length + moreAfter.length > 0) return false
  const [unit, value] = after
  if (before[0] !== unit || before[1] === value) return false
  const telling = tellingOf(older.content, news.language)
  const both = [...tellingOf(newer.content, news.language)].filter(
    (term) => telling.has(term) && term !== unit && !changing.has(term) && !/^\d/.test(term),
  )
  return both.length >= (unit === '' ? 2 : 1)
}

/** Words by language that say of an amount that it is another one than before, as they are folded. */
const changes: Readonly<Record<string, string>> = {
  en: 'now|down|up to|to (?=\\p{Sc}?\\d)|new|changed|raised|raises|lowered|lowers|reduced|cut|increased|halved|doubled|instead|since|from (?:january|february|march|april|may|june|july|august|september|october|november|december|next|now|today)',
  de: 'jetzt|ab|seit|auf|neue?[rns]?|erhoht|gesenkt|gestiegen|reduziert|statt',
  fr: 'depuis|desormais|maintenant|passe a|augmente~|baisse~|nouve~',
  es: 'desde|ahora|subi~|sube|baj[oae]~|nuev[oa]',
  it: 'ora|adesso|salit~|aument~|scende|scesa?o?|nuov[oa]|dal?',
  pt: 'agora|desde|passou|aument~|diminui~|subiu|baixou|nov[oa]',
  nl: 'nu|sinds|vanaf|verhoogd|verlaagd|nieuwe?',
  pl: 'od|teraz|wzros~|podni~|obniz~|now[yae]',
  tr: 'artik|simdi|oldu|yeni',
  ru: 'теперь|с|повысил~|снизил~|нов~',
  uk: 'тепер|з|підвищ~|знизи~|нов~',
}

function tellsOfChange({ language, folded }: SlotReading): boolean {
  const words = changes[language]
  return (
    words !== undefined && new RegExp(`(?<!\\p{L})(?:${words.replaceAll('~', '\\p{L}*')})(?!\\p{L})`, 'u').test(folded)
  )
}

/** Terms that say of a value only that it is another one. */
const changing = new Set(
  'now new chang neu neue nouveau nuevo nuevo nuovo novo nieuw nieuwe now nowy nowe yeni новый новая новий нова now today heute since chang 新 新的'.split(
    ' ',
  ),
)

/** Terms that statements of a diet share whatever they are about. */
const eating = new Set(
  'eat drink esse trink mang boi como bebo mangio bevo eet drink jem pije ем пю пью ім again'.split(' '),
)

/** An illness that is only suspected, or looked for. */
const suspected =
  /suspect|test|verdacht|soup|sospech|sospet|suspeit|vermoed|podejrz|suphe|подозр|підозр|يشتبه|शक|疑|怀疑|check|biops|scan/u

function isOneFamily({ folded }: SlotReading, { reading }: Known): boolean {
  return Object.values(family).some((words) => words.test(folded) && words.test(reading.folded))
}

/** Whether both speak of one illness; news that name none, as "the test is negative", are of one that was suspected. */
function isSameIllness(reading: SlotReading, older: Known): boolean {
  const isNamed = family.allergy.test(reading.folded) || family.diabetes.test(reading.folded)
  return isNamed ? isOneFamily(reading, older) : suspected.test(older.reading.folded)
}

/** Those that share a word with the news; without any, the only one, since of several it is not said which. */
function onlyOne(chosen: readonly Known[], shares: (older: Known) => boolean): readonly Known[] {
  const named = chosen.length > 1 ? chosen.filter((older) => shares(older)) : chosen
  return named.length === 1 ? named : []
}

/** Milliseconds in which "the deal" means a purchase or a plan that was stated before. */
const recently = 180 * 86_400_000

/** The purchase or plan that fell through: one that shares a word, or the latest where it is "the deal" or "it". */
function calledOff(
  chosen: readonly Known[],
  telling: ReadonlySet<string>,
  now: number,
  { folded }: SlotReading,
  shares: (older: Known) => boolean,
): readonly Known[] {
  const named = chosen.filter(shares)
  if (named.length > 0) return named.slice(0, 2)
  const [, object] =
    /(?<!\p{L})(?:cancel\p{L}{0,6}|called off) (?:the|our|my|that|this) (\p{L}{1,40})/u.exec(folded) ?? []
  if (object !== undefined && !standIns.has(object)) return []
  const isStandIn = telling.size === 0 || folded.split(/[^\p{L}\p{M}]+/u).some((word) => standIns.has(word))
  const latest = chosen.find(({ reading }) => !reading.isUnmeant)
  return isStandIn && latest && now - latest.entry.timestamp < recently ? [latest] : []
}

/** The least share of the words beside the ending that the older statement has, and of its own that the news have. */
const leastOfNews = 0.6
const leastOfOlder = 0.4

function isSaidToEnd(clause: string, { language }: SlotReading, { entry, reading }: Known): boolean {
  const news = new Set([...tellingOf(clause, language)].filter((term) => !endingTerms().has(term)))
  const older = tellingOf(entry.content, reading.language)
  if (news.size === 0 || older.size === 0 || reading.endings.length > 0) return false
  const both = [...news].filter((term) => older.has(term)).length
  return both >= leastOfNews * news.size && both >= leastOfOlder * older.size
}
