/** How English is read aloud: ordered rules, by the sign that a token begins with. `test/fixtures/readings` has examples of each. */
import { greekName, signName } from '../signs.ts'
import { sayAcronym, spell } from './acronyms.ts'
import { amount, cardinal, digits, fraction, ordinal, plainAmount, year, yearOrAmount } from './english-numbers.ts'
import { vocabulary } from './english-words.ts'
import { romanValue } from './numbers.ts'
import { type Found, type Rule, type Rules, rule } from './rules.ts'

const { anywhere, beforeNumbers, behindNames, currencyCodes, currencySigns, days, months, scales, titles, units } =
  vocabulary
const { unitsOfMany, signsOfNames } = vocabulary
const elements = new Set(vocabulary.elements)
const files = vocabulary.files.join('|')

/** Also `1.250,00`, as sums are written on the Continent. */
const number =
  '(?:\\d{1,3}(?:\\.\\d{3}){1,4},\\d\\d(?!\\d)|\\d{1,3}(?:,\\d{3}){1,5}(?:\\.\\d{1,12})?|\\d{1,3}(?:[ \\u00a0\\u202f]\\d{3}){1,4}(?![ -]?\\d)|\\d{1,20}(?:\\.\\d{1,12})?|\\.\\d{1,12})'
const dash = ' ?[-–—] ?'
/** No letter or digit follows, nor a decimal. */
const end = '(?![\\p{L}\\p{N}]|[.,]\\d)'
const oneOf = (words: readonly string[]) =>
  words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replace(/[$.*+?^]/g, '\\$&').replaceAll(' ', '\\.? '))
    .join('|')
const scale = `(${oneOf(Object.keys(scales).filter((short) => short.length < 3))}|[ -]?(?:hundred|thousand|million|billion|trillion|crore|lakh))`
const month = `(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|${months.join('|')})(?![a-z])\\.?`
const monthOf = (text: string) => months.find((name) => name.startsWith(text.slice(0, 3)))!
const unit = `(${oneOf(Object.keys(units))})`

/** One thing or many, or an adjective before a noun: `a five kilometer run`. */
function isOne(value: string, { before, after }: Found): boolean {
  return /^1(?:\.0+)?$/.test(value) || isAdjective({ before, after })
}

function isAdjective({ before, after }: Pick<Found, 'before' | 'after'>): boolean {
  return (
    /(?:^|\s)(?:an?|per|every)\s["“(]?$/i.test(before) &&
    /^[ -](?:\p{Ll}{3}|\p{Lu}{2})/u.test(after) &&
    !/^ (?:and|for|from|per|each|from|in|is|was|or)\b/.test(after)
  )
}

function sayUnit(short: string, power: string, isSingle: boolean): string {
  const one = units[short.replace('.', '')]!
  const [head = '', ...per] = one.split(' per ')
  const [first = '', ...rest] = head.split(' ')
  const isPlace = /^degree/.test(head)
  const plural =
    unitsOfMany[head] ??
    (isPlace
      ? ['degrees', ...rest].join(' ')
      : unitsOfMany[rest.at(-1) ?? '']
        ? `${first} ${unitsOfMany[rest.at(-1)!]}`
        : `${head}s`)
  const words = [isSingle ? head : plural, ...per].join(' per ')
  return (power === '' ? '' : power === '2' || power === '²' ? 'square ' : 'cubic ') + words
}

/** `five kilometers`, `ten kilograms per cubic meter`, `nine point eight meters per second squared`. */
function sayMeasure(
  spoken: string,
  isSingle: boolean,
  [short, power = '', under, underPower = '']: readonly (string | undefined)[],
): string {
  const over = sayUnit(short!, power, isSingle)
  if (under === undefined) return `${spoken} ${over}`
  const below = sayUnit(under, /^[sh]$/.test(under) ? '' : underPower, true)
  return `${spoken} ${over} per ${below}${/^[sh]$/.test(under) && underPower ? (/[2²]/.test(underPower) ? ' squared' : ' cubed') : ''}`
}

/** A sum: `five dollars and fifty cents`, `three billion euros`, and the adjective `five dollar`. */
function sayMoney(
  sum: string,
  size: string | undefined,
  currency: readonly (string | undefined)[],
  isSingle = false,
): string {
  const [one, many, cent, cents] = currency
  const plain = plainAmount(sum)
  const unitOf = (value: string) => (isSingle || Number(value) === 1 ? one : many)
  if (size) return `${amount(sum)} ${scales[size.trim().replace('-', '')] ?? size.trim()} ${isSingle ? one : many}`
  const [whole = '', part] = plain.split('.')
  if (part === undefined || /^0+$/.test(part)) return `${cardinal(Number(whole))} ${unitOf(whole)}`
  if (part.length !== 2 || !cent) return `${amount(sum)} ${isSingle ? one : many}`
  const small = `${cardinal(Number(part))} ${Number(part) === 1 ? cent : cents}`
  return Number(whole) === 0 ? small : `${cardinal(Number(whole))} ${unitOf(whole)} and ${small}`
}

/** `nine thirty`, `nine oh five`, `nine o'clock`, `fourteen hundred`; with half of the day no `o'clock`. */
function sayTime(hour: string, minute: string | undefined, half?: string): string {
  const half12 = half ? ` ${spell(half[0]!)} M` : ''
  const [hours, minutes] = [Number(hour), Number(minute ?? 0)]
  if (half) return cardinal(hours) + (minutes > 0 ? ` ${minutes < 10 ? 'oh ' : ''}${cardinal(minutes)}` : '') + half12
  if (minutes === 0)
    return hours === 0 ? 'midnight' : hours <= 12 ? `${cardinal(hours)} o'clock` : `${cardinal(hours)} hundred`
  return `${cardinal(hours)} ${minutes < 10 ? 'oh ' : ''}${cardinal(minutes)}`
}

function sayDate(yearText: string, monthNumber: number, day: number): string | undefined {
  const name = months[monthNumber - 1]
  if (!name || day < 1 || day > 31) return undefined
  const value = Number(yearText)
  return `${name} ${ordinal(day)}, ${yearText.length === 2 ? (value < 10 ? `oh ${cardinal(value)}` : cardinal(value)) : year(value)}`
}

function sayDay(month: number, day: number): string {
  return `${months[month - 1]} ${ordinal(day)}`
}

/** Groups of digits, as telephone numbers are read. */
function sayGroups(text: string): string {
  return text
    .split(/[^\dX]+/)
    .filter(Boolean)
    .map((group) => digits(group) + (group.endsWith('X') ? ' X' : ''))
    .join(', ')
}

const spokenEndings = new RegExp(`^(?:${vocabulary.spokenEndings.join('|')})$`, 'i')

/** An address, a path or the name of a file with its signs said: `report dot P D F`. */
function sayAddress(address: string): string {
  const parts: readonly string[] = address.match(/\p{L}+|\d+|[^\p{L}\p{N}]/gu) ?? []
  return parts
    .map((part, index) => {
      if (/^\d/.test(part)) return part.length > 4 || /^0\d/.test(part) ? digits(part) : yearOrAmount(part)
      if (!/^\p{L}/u.test(part)) return signsOfNames[part] ?? ''
      const isEnding = parts[index - 1] === '.' && part.length <= 4 && !parts.includes('@', index)
      if (part.length === 1 || (isEnding && !spokenEndings.test(part) && part.length <= 3)) return sayEnding(part)
      return sayLetters(isEnding && !spokenEndings.test(part) ? part.toUpperCase() : part)
    })
    .filter(Boolean)
    .join(' ')
}

function sayEnding(part: string): string {
  return sayAcronym(part.toUpperCase()) === 'jay peg' || part === 'jpg' ? 'jay peg' : spell(part)
}

/** Letters between other signs: an acronym is spelled, two words written as one are parted. */
function sayLetters(part: string): string {
  if (/^\p{Lu}{2,}$/u.test(part)) return sayAcronym(part) ?? part
  return part
    .split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
    .map((word) => (/^\p{Lu}{2,}$/u.test(word) ? (sayAcronym(word) ?? word) : word))
    .join(' ')
}

/** Letters with digits: `M P three`, `C O two`, `F sixteen`. */
function sayMixed(part: string): string {
  return (part.match(/\p{L}+|\d+(?:\.\d+)?/gu) ?? [])
    .map((run) =>
      /^\d/.test(run)
        ? amount(run)
        : run.length <= 3 && /^\p{L}+$/u.test(run) && !/^\p{Lu}?\p{Ll}{2}$/u.test(run)
          ? spell(run)
          : sayLetters(run),
    )
    .join(' ')
}

/** A chemical formula, letter by letter; undefined for anything else. */
function sayFormula(text: string): string | undefined {
  const parts = text.match(/[A-Z][a-z]?|\d(?=\d[+-]$)|\d+|[()+-]/g) ?? []
  const names = parts.filter((part) => /^[A-Z]/.test(part))
  if (parts.join('') !== text || names.some((name) => !elements.has(name))) return undefined
  if (/^[^C]\w?\d?[+-]$/.test(text)) return sayParts()
  if (!/\d/.test(text) && (names.length < 2 || !/[a-z]/.test(text))) return undefined
  return sayParts()

  function sayParts(): string {
    return parts
      .map((part) =>
        /^\d/.test(part)
          ? cardinal(Number(part))
          : /^[A-Z]/.test(part)
            ? spell(part)
            : (signName(part) ?? (part === '-' ? 'minus' : '')),
      )
      .filter(Boolean)
      .join(' ')
  }
}

const rulers = new RegExp(`(?:^|\\s)(?:${vocabulary.rulers.join('|')})\\s$`)
const sections =
  /(?:^|\s|\()(?:Chapter|Part|Act|Scene|Volume|(?:Vol|Ch|Chap|Pt|Sec|Art|Fig|No|Bk)\.|Book|Article|Section|Appendix|Phase|Type|Class|Level|Stage|Grade|Title|Figure|Table|War|Episode|Season|Series|Mark|Mk|Canto|Unit|Lesson|Category|Schedule|Annex|Tier|Group|Factor|Division|Zone|Round|Step|Round|Symphony|Sonata|Opus|chapter|part|act|scene|volume|book|article|section|appendix|phase|type|class|level|stage|grade|category|tier)\s$/

function sayRoman({ match, before, after }: Found): string | undefined {
  const letters = match[0]
  const value = romanValue(letters)
  if (value === undefined) return undefined
  if (/^ (?:century|centuries|dynasty)/i.test(after)) return ordinal(value)
  if (
    sections.test(before) &&
    (letters !== 'I' || /\p{Lu}\p{Ll}+ $/u.test(before) || /^(?:[.,;:)]|$| of )/.test(after))
  )
    return capital(cardinal(value))
  if (
    letters.length < 2 &&
    !(letters === 'V' && rulers.test(before)) &&
    !/(?:King|Queen|Pope|Emperor|Empress|Tsar|Prince) \p{Lu}\p{Ll}+ $/u.test(before)
  )
    return undefined
  if (rulers.test(before)) return `the ${capital(ordinal(value))}`
  if (/^[CDM]+$/.test(letters) || /^(?:CD|DC|CC|MD|MM|CV|DIM|MIX|LI|MI|DI|CIV|XXX)$/.test(letters)) return undefined
  if (/^MM?[CDLXVI]{2,}$/.test(letters) && value > 1500) return year(value)
  // Behind a name: `Rocky IV`, `Super Bowl LVIII`; `an IV drip` has none.
  if (
    !/\p{Lu}[\p{L}’']{1,30} $/u.test(before) ||
    (/^(?:IV|MD|DC|CV)$/.test(letters) && /^ \p{Ll}/u.test(after)) ||
    /^(?:MI)$/.test(letters)
  )
    return undefined
  return letters.length > 4 || value > 20 ? cardinal(value) : capital(cardinal(value))
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The words of an abbreviation with its dot, by what stands around it; undefined for a word that is none. */
function sayAbbreviation({ match, before, after }: Found): string | undefined {
  const [, short = '', dot] = match
  const small = short.toLowerCase()
  const inCase = (words: string | undefined) => words && (/^\p{Lu}\p{Ll}/u.test(short) ? capital(words) : words)
  const own = (table: Readonly<Record<string, string>>, key: string) =>
    Object.hasOwn(table, key) ? table[key] : undefined
  if (/^ ?#?(?:\d|[IVX]+(?!\p{L}))/u.test(after) && (dot || /^(?:vol|fig|no|apt)$/i.test(short))) {
    const words = own(beforeNumbers, small)
    if (words && !(own(titles, short) && /^St$/.test(short)))
      return `${inCase(words)}${after.startsWith(' ') ? '' : ' '}`
  }
  const isUndottedStreet = /^(?:Ave|Rd|Ln|Sq|Pkwy)$/.test(short) && /^(?:$|[,;)]|\s[NSEW][EW]?(?!\p{L}))/u.test(after)
  if (
    !dot &&
    !isUndottedStreet &&
    !/^(?:Mr|Mrs|Ms|Dr|Jr|Sr|vs|etc|St|Mt|Prof|Sgt|Lt|Inc|Ltd|Corp|approx|misc|Blvd|Hwy)$/.test(short)
  )
    return undefined
  const isBehindName =
    /[\p{Lu}\d][\p{L}\p{M}’'.\d-]{0,30},? $/u.test(before) &&
    !/^(?:The|And|Is|On|In|At|With|By|To|For|From|But|Dear|Then|When|Of) $/.test(before.slice(-5).trimStart())
  const isBeforeName = /^ \p{Lu}/u.test(after)
  const behind = own(behindNames, short)
  if (
    behind &&
    isBehindName &&
    (!own(titles, short) ||
      !isBeforeName ||
      (/^(?:St|Ave|Rd|Dr)$/.test(short) &&
        /(?:^|\s)(?:\d+|\p{Lu}\p{Ll}+|\d*(?:st|nd|rd|th)) $/u.test(before) &&
        /^(?:,| (?:and|in|at|near|to|is|was)\b)/.test(after)))
  )
    return behind
  const title = own(titles, short)
  if (title && (isBeforeName || /^ (?:and|&) /.test(after))) return title
  if (behind && (isBehindName || !title)) return behind
  if (
    /^(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)$/.test(short) &&
    /^,? (?:\d|at\b|from\b|and\b|to\b|morning|evening|night|afternoon|\p{Lu}\p{Ll}{2})/u.test(after)
  )
    return days.find((day) => day.startsWith(short.slice(0, 3)))
  if (/^(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$/.test(short)) return monthOf(short)
  return inCase(own(anywhere, short) ?? own(anywhere, small)) ?? title
}

const phone = [
  '\\(\\d{3}\\) ?\\d{3}[-. ]\\d{4}',
  '\\+\\d{1,3}(?:[ .-]?\\(\\d{1,5}\\))?(?:[ .-]?\\d{1,8})(?:[ .-]\\d{1,8}){1,5}',
  '(?:1[-. ])?\\d{3}[-.]\\d{3}[-.]\\d{4}',
  '\\d{3}-\\d{4}',
  '0\\d{1,4}[ -]\\d{3,6}(?:[ -]\\d{3,4})?',
  '\\d{4}(?:[ -]\\d{4}){3}',
  '97[89]-\\d{1,5}-\\d{1,7}-\\d{1,6}-[\\dX]',
  '\\d{3}-\\d{2}-\\d{4}',
]
  .map((form) => `${form}(?![\\p{N}-])`)
  .join('|')

/** A range to a round number is no telephone number. */
const sayPhone: Rule[1] = ({ match }) =>
  /^\d{3}-[1-9]\d[05]0$/.test(match[0]) ? undefined : (match[0].startsWith('+') ? 'plus ' : '') + sayGroups(match[0])

/** What has a number of three digits for a name, which is said as `one oh one`. */
const numbered =
  /\b(?:Boeing|Airbus|Highway|Hwy|Route|Interstate|Flight|flight|[Rr]oom|Suite|Apartment|Gate|[Bb]us|Channel|Error|Locker|Unit|Building|[A-Z]{2}) $/

const half = '[ \\u00a0]?([AaPp])\\.?[Mm](?![\\p{L}])\\.?'

/** What may stand in a range: its ends are numbers of the same kind. */
function sayRange(from: string, to: string): string {
  const isYears = /^1[1-9]\d\d$|^20\d\d$/.test(from)
  if (isYears && /^\d\d$/.test(to))
    return `${year(Number(from))} to ${Number(to) < 10 ? `oh ${cardinal(Number(to))}` : cardinal(Number(to))}`
  return `${yearOrAmount(from)} to ${yearOrAmount(to)}`
}

const superscript = '[⁻⁺]?[⁰¹²³⁴-⁹]{1,6}'
function sayPower(power: string): string {
  const plain = power.normalize('NFKC').replace('\u2212', '-')
  if (plain === '2') return 'squared'
  if (plain === '3') return 'cubed'
  const size = plain.replace(/[-+]/, '')
  return `to the power of ${plain.startsWith('-') ? 'minus ' : ''}${/^\d/.test(size) ? amount(size) : size}`
}

/** Rules of dates and times, which begin with a digit. */
const dated: readonly Rule[] = [
  rule(
    `(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::\\d\\d(?:\\.\\d{1,9})?)?)?(Z|[+-]\\d\\d:?\\d\\d)?${end}`,
    ({ match: [, y = '', m, d, hour, minute, zone] }) => {
      const date = sayDate(y, Number(m), Number(d))
      const offset =
        zone === undefined
          ? ''
          : zone === 'Z'
            ? ' U T C'
            : ` ${zone[0] === '-' ? 'minus' : 'plus'} ${cardinal(Number(zone.slice(1, 3)))}`
      return date && date + (hour === undefined ? '' : `, ${sayTime(hour, minute)}${offset}`)
    },
  ),
  rule(`(\\d{4})/(\\d\\d)/(\\d\\d)${end}`, ({ match: [, y = '', m, d] }) => sayDate(y, Number(m), Number(d))),
  rule(`(\\d\\d?)([/.-])(\\d\\d?)\\2(\\d{4}|\\d\\d)${end}`, ({ match: [, first, sign, second, y = ''] }) => {
    if (sign !== '/' && y.length === 2) return undefined
    const isDayFirst = sign === '.' || Number(first) > 12
    return sayDate(y, Number(isDayFirst ? second : first), Number(isDayFirst ? first : second))
  }),
  rule(
    `(\\d\\d?)(?:st|nd|rd|th)?(?: of)? ${month}(?:,? (\\d{4}))?${end}`,
    ({ match: [whole, d, name = '', y], before }) => {
      if (
        Number(d) < 1 ||
        Number(d) > 31 ||
        (/May/.test(name) &&
          !y &&
          /\d May$/.test(whole) &&
          !/(?:on|the|of|until|by|from|since|to) $/i.test(before) &&
          before !== '')
      )
        return undefined
      return `${/the $/i.test(before) ? '' : 'the '}${ordinal(Number(d))} of ${monthOf(name)}${y ? `, ${year(Number(y))}` : ''}`
    },
  ),
]

const timed: readonly Rule[] = [
  rule(`([01]?\\d|2[0-4])[:.]([0-5]\\d)(?::[0-5]\\d)?${half}`, ({ match: [, hour = '', minute, letter] }) =>
    sayTime(hour, minute, letter),
  ),
  rule(`(1[0-2]|0?\\d)${half}`, ({ match: [, hour = '', letter] }) => sayTime(hour, undefined, letter)),
  rule(
    '([01]?\\d|2[0-4]):([0-5]\\d):([0-5]\\d)(?![\\d:])',
    ({ match: [, hour = '', minute, second] }) => `${sayTime(hour, minute)} and ${cardinal(Number(second))} seconds`,
  ),
  rule('(2[0-4]|[01]?\\d):([0-5]\\d)(?![\\d:])(?: ?h(?:rs)?\\b)?', ({ match: [, hour = '', minute] }) =>
    sayTime(hour, minute),
  ),
  rule(`(2[0-4]|[01]?\\d)h([0-5]\\d)${end}`, ({ match: [, hour = '', minute] }) => sayTime(hour, minute)),
  rule(
    '(\\d{1,4}):(\\d{1,4})(?![\\d:])',
    ({ match: [, one = '', other = ''], before }) =>
      `${amount(one)}${/\p{Lu}\p{Ll}+ $/u.test(before) ? ',' : ' to'} ${amount(other)}`,
  ),
]

const unitWords = `${unit}\\^?([²³23]?)(?:/${unit}\\^?([²³23]?))?(?![\\p{L}\\p{N}'’]|/\\p{L})`

const digitRules: readonly Rule[] = [
  ...dated,
  rule(
    `(\\d{1,3}(?:\\.\\d{1,3}){3})(?::(\\d{1,5}))?(?:/(\\d{1,2}))?${end}`,
    ({ match: [, address = '', port, mask] }) =>
      address
        .split('.')
        .map((part) => (part.length < 3 ? cardinal(Number(part)) : digits(part)))
        .join(' dot ') +
      (port ? ` port ${digits(port)}` : '') +
      (mask ? ` slash ${amount(mask)}` : ''),
  ),
  rule(phone, sayPhone),
  ...timed,
  // Decades and ages.
  rule("(1\\d|20|2[1-9])(\\d)0['’]?s(?![\\p{L}\\p{N}])", ({ match: [, century, ten] }) =>
    many(`${century}${ten}` === '200' ? 'two thousand' : year(Number(`${century}${ten}0`))),
  ),
  rule("([2-9]0)['’]?s(?![\\p{L}\\p{N}])", ({ match: [, ten] }) => many(cardinal(Number(ten)))),
  rule(
    '(\\d{1,3}(?:,\\d{3}){0,3}|\\d{1,9})(?:st|nd|rd|th)(?!\\p{L})',
    ({ match: [, value = ''] }) => ordinal(Number(value.replaceAll(',', ''))),
    'i',
  ),
  // Fractions.
  rule('((?:19|20)\\d\\d)/(\\d\\d)(?![\\p{N}/])', ({ match: [, from = '', to = ''] }) => sayRange(from, to)),
  rule(
    '(\\d{1,3}) : (\\d{1,3})(?!\\p{N})',
    ({ match: [, one = '', other = ''] }) => `${amount(one)} to ${amount(other)}`,
  ),
  rule(
    '(\\d{1,2}) ?(?:ft|feet)\\.? (\\d{1,2}) ?in(?!\\p{L})\\.?',
    ({ match: [, feet = '', inches = ''] }) =>
      `${amount(feet)} ${feet === '1' ? 'foot' : 'feet'} ${amount(inches)} ${inches === '1' ? 'inch' : 'inches'}`,
  ),
  rule(`24/7${end}`, 'twenty-four seven'),
  rule(`9/11${end}`, 'nine eleven'),
  rule(
    `(?:(\\d{1,4})(?:[ -]|(?=[¼-¾⅐-⅞])))?(?:(\\d\\d?)/(\\d\\d?|\\d00)(?![\\p{N}/]|[.,]\\d)|([¼-¾⅓-⅞]))(?:[ -]?(["″](?!\\p{L})|${unit}(?![\\p{L}\\p{N}.])))?`,
    ({ match: [, whole, one, two, sign = '', short], before }) => {
      const [over = 0, under = 0] =
        one === undefined ? sign.normalize('NFKC').split('⁄').map(Number) : [Number(one), Number(two)]
      if (under < 2 || over > under)
        return /\b(?:on|since|until|by) $/.test(before) && over < 13 && under < 32 ? sayDay(over, under) : undefined
      if (one !== undefined && /\b(?:on|due|EOD|COB|before|after) $/.test(before) && over < 13 && under < 32)
        return sayDay(over, under)
      if (over > 9 && under >= 100) return `${cardinal(over)} out of ${cardinal(under)}`
      if (over === under) return `${cardinal(over)} ${cardinal(under)}`
      const words = whole ? `${amount(whole)} and ${fraction(over, under, true)}` : fraction(over, under)
      return short ? `${words} ${/["″]/.test(short) ? 'inch' : sayUnit(short, '', whole === undefined)}` : words
    },
  ),
  // Feet, inches, degrees.
  rule(
    "(\\d{1,2})['’′] ?(\\d{1,2})(?:[\"”″]|(?![\\p{N}'’]))",
    ({ match: [, feet, inches] }) => `${cardinal(Number(feet))} foot ${cardinal(Number(inches))}`,
  ),
  rule(
    '(\\d{1,3})° ?(?:(\\d{1,2})[\'’′] ?(?:(\\d{1,2}(?:\\.\\d+)?)["”″] ?)?)?([NSEW])(?![\\p{L}\\p{N}])',
    ({ match: [, deg = '', min, sec, way = ''] }) =>
      [
        `${cardinal(Number(deg))} degrees`,
        min && `${amount(min)} minutes`,
        sec && `${amount(sec)} seconds`,
        { N: 'north', S: 'south', E: 'east', W: 'west' }[way],
      ]
        .filter(Boolean)
        .join(' '),
  ),
  rule(`(${number})["″](?![\\p{L}\\p{N}])`, (found) =>
    /["“]/.test(found.before) && !/″/.test(found.match[0])
      ? undefined
      : isAdjective(found)
        ? `${amount(found.match[1]!)} inch`
        : `${amount(found.match[1]!)} inch${found.match[1] === '1' ? '' : 'es'}`,
  ),
  rule("(\\d{1,3})[′'](?![\\p{L}\\p{N}'])", ({ match: [whole, feet = ''], before }) =>
    whole.endsWith("'") && /(?:^|\s)[‘'][^'’]*$/.test(before)
      ? undefined
      : `${amount(feet)} ${feet === '1' ? 'foot' : 'feet'}`,
  ),
  // Sums of money behind which the currency stands.
  rule(
    `(${number})(?:${dash}(${number}))? ?${scale}? ?(${oneOf([...Object.keys(currencyCodes), '€', '£', '¥', '₹', '₩', '₽'])})(?![\\p{L}\\p{N}])`,
    ({ match: [, sum = '', to, size, name = ''] }) => {
      const currency = currencyCodes[name] ?? currencySigns[name]!
      return to ? `${amount(sum)} to ${sayMoney(to, size, currency)}` : sayMoney(sum, size, currency)
    },
  ),
  rule(`(${number})¢`, ({ match: [, sum = ''] }) => `${amount(sum)} ${sum === '1' ? 'cent' : 'cents'}`),
  rule('(\\d{1,3})p(?![\\p{L}\\p{N}.])', ({ match: [, sum = ''] }) => `${amount(sum)} pence`),
  rule(
    `(${number})[eE]([-+]?\\d{1,3})${end}`,
    ({ match: [, value = '', power = ''] }) =>
      `${amount(value)} times ten ${sayPower(power === '2' || power === '3' ? `+${power}` : power)}`,
  ),
  rule(
    `(${number}) ?\\^ ?[({]?([-−+]?[\\p{L}\\d]{1,5})[)}]?`,
    ({ match: [, value = '', power = ''] }) => `${amount(value)} ${sayPower(power)}`,
  ),
  rule(`(${number})(${superscript})(?: ?${unitWords})?`, ({ match: [, value = '', power = '', ...unitParts] }) =>
    unitParts[0] === undefined
      ? `${amount(value)} ${sayPower(power)}`
      : sayMeasure(`${amount(value)} ${sayPower(power)}`, false, unitParts),
  ),
  // Measures, alone and as ranges.
  rule(`(${number})(?:(?:${dash}| to | or )(${number}))?[ \\u00a0-]?${unitWords}`, (found) => {
    const { match, before } = found
    const [, value = '', to, ...unitParts] = match
    if (/^[BKTNJVAWt]$/.test(unitParts[0]!) && !/[ \u00a0]/.test(match[0])) return undefined
    if (/^[BKN]$/.test(unitParts[0]!)) return undefined
    if (unitParts[0] === 'in' && !/^[.,;)]|^$|^ (?:wide|long|tall|high|deep|thick)/.test(found.after)) return undefined
    if (/^(?:s)$/.test(unitParts[0]!) && !/[ \u00a0]/.test(match[0]) && /^\d0$/.test(value)) return undefined
    const spoken = to === undefined ? amount(value) : sayRange(value, to)
    // `1h 30m`.
    if (unitParts[0] === 'm' && /\d ?h(?:rs?|ours?)?,? ?$/.test(before)) unitParts[0] = 'min'
    return sayMeasure(spoken, to === undefined && isOne(value, found), unitParts)
  }),
  // Dimensions, factors and short large numbers.
  rule(
    `(${number}) ?[x×] ?(${number})(?: ?[x×] ?(${number}))?(?![\\d²³¹⁰-⁹⁻^])(?: ?${unitWords}|(?!\\p{L})( ?=)?)`,
    ({ match: [whole, one = '', two = '', three, short, ...rest] }) => {
      const equals = rest.at(-1)
      if ((short === undefined && / × /.test(whole)) || (equals && / × |×/.test(whole))) return undefined
      const sides = [one, two, three]
        .filter((side) => side !== undefined)
        .map(side)
        .join(equals ? ' times ' : ' by ')
      return short ? sayMeasure(sides, false, [short, ...rest]) : sides + (equals ? ' equals ' : '')
    },
  ),
  rule(`(${number})[x×](?![\\p{L}\\p{N}])`, ({ match: [, value = ''] }) => `${amount(value)} times`),
  rule(
    `(${number})${dash}(${number}) ?(k|K|M|bn|million|billion|trillion)(?![\\p{L}\\p{N}])`,
    ({ match: [, from = '', to = '', size = ''] }) => `${amount(from)} to ${amount(to)} ${scales[size]}`,
  ),
  rule(
    `(${number}) ?(bn|mn)(?![\\p{L}\\p{N}])|(${number})(k|K|M|tn|(?<=\\.\\d{1,2})B)(?![\\p{L}\\p{N}])`,
    ({ match: [, one, short, other, letter] }) =>
      /^[48]$/.test(other ?? '') && letter === 'K'
        ? undefined
        : `${amount((one ?? other)!)} ${scales[(short ?? letter)!]}`,
  ),
  rule(`(${number})\\+(?![\\p{L}\\p{N}])(?! ?\\d)`, ({ match: [, value = ''] }) => `${amount(value)} plus`),
  // A hyphen between blanks subtracts; without them it is a range.
  rule(`(${number}) ?[–—] ?(${number})(?![\\p{N}–—-])`, ({ match: [, from = '', to = ''] }) => sayRange(from, to)),
  rule(`(?<!\\d[-–])(${number})-(${number})(?![\\p{N}-])(?!\\p{L})`, ({ match: [, from = '', to = ''] }) =>
    sayRange(from, to),
  ),
  rule('\\d{1,4}(?:\\.\\d{1,6}){2,6}(?!\\p{N})', ({ match }) =>
    match[0]
      .split('.')
      .map((part) => amount(part.replace(/^0+(?=.)/, '')))
      .join(' point '),
  ),
  // Letters behind digits: `3D`, `4K`, `747s`.
  rule(
    '(\\d{1,4})(\\p{Lu}{1,3})(?![\\p{L}\\p{N}])',
    ({ match: [, value = '', letters = ''] }) => `${amount(value)} ${spell(letters)}`,
  ),
  // `49ers`, `6ish`.
  rule(
    '(\\d{1,4})-?(ers|ish)(?!\\p{L})',
    ({ match: [, value = '', ending = ''] }) => `${yearOrAmount(value).replace(/e$/, '')}${ending}`,
  ),
  rule(`(\\d{1,4})['’]?s(?!\\p{L})`, ({ match: [, value = ''] }) => many(yearOrAmount(value))),
  rule('\\d{5}(?=[\\s,.-]|$)(?:-\\d{4})?', ({ match, before }) =>
    /(?:^|[\s,])\p{Lu}{2} $/u.test(before) ? sayGroups(match[0]) : undefined,
  ),
  // Numbers that are names: `Highway 101`, `ZIP code 90210`.
  rule('\\d{3}(?![\\p{L}\\p{N}]|[.,]\\d)', ({ match: [name], before }) =>
    numbered.test(before) && !/^0|00$/.test(name)
      ? `${cardinal(Number(name[0]))} ${name[1] === '0' ? `oh ${cardinal(Number(name[2]))}` : cardinal(Number(name.slice(1)))}`
      : undefined,
  ),
  rule('\\d{3,12}(?![\\p{L}\\p{N}]|[.,]\\d)', ({ match: [code], before }) =>
    /\b(?:ZIP|zip|[Pp]ost|[Pp]ostal|[Pp]ass|[Aa]ccess|[Aa]rea|[Ss]ecurity|[Vv]erification)[ -]?codes? (?:is )?$|\b(?:PIN|ZIP) (?:is )?$/.test(
      before,
    )
      ? sayGroups(code)
      : undefined,
  ),
  rule('\\d{3,4} \\d{3,4}(?: \\d{3,4})?(?![\\p{N}])', ({ match, before }) =>
    /\b(?:tel|call|phone|fax|mobile|text)[.:]? $/i.test(before) ? sayGroups(match[0]) : undefined,
  ),
  rule('(?:911|112|999|411|311)(?![\\p{L}\\p{N}.,])', ({ match, before }) =>
    /\b(?:call|dial|called|dialed|dialled|calling|ring|phone|phoned) $/i.test(before) ? digits(match[0]) : undefined,
  ),
  rule('\\d{3}(?=\\p{L})(?!\\d)', ({ match }) => `${amount(match[0])} `),
  rule(`\\d{1,3},\\d{1,2}(?![\\p{N},])`, ({ match }) => amount(match[0])),
  rule(`${number}`, ({ match, before, after }) => {
    const spoken =
      /^\d{4}$/.test(match[0]) && !/(?:\b(?:port|room|number|No\.) |[#:]|\d[,.]|[=+×*] ?)$/.test(before)
        ? yearOrAmount(match[0])
        : amount(match[0])
    return /^\p{L}/u.test(after) ? `${spoken} ` : spoken
  }),
]

function side(text: string): string {
  return /^\d{4}$/.test(text)
    ? `${cardinal(Number(text.slice(0, 2)))} ${Number(text.slice(2)) < 10 ? `oh ${cardinal(Number(text.slice(2)))}` : cardinal(Number(text.slice(2)))}`
    : amount(text)
}

/** `nineties`, `hundreds`. */
function many(words: string): string {
  return words.endsWith('y') ? `${words.slice(0, -1)}ies` : words.endsWith('x') ? `${words}es` : `${words}s`
}

const domain =
  '(?:[a-z\\d](?:[a-z\\d-]{0,62}[a-z\\d])?\\.){1,6}(?:com|org|net|edu|gov|io|co|uk|de|fr|es|it|nl|eu|info|app|dev|ai|tv|me|us|ca|au|jp|cn|ru|br|pt|ch|at|be|se|no|fi|pl|in|int|mil|biz|local)'
/** An address ends before the mark that ends its sentence. */
const addressEnd = '[^\\s<>"]{0,2000}[^\\s<>".,;:!?)\\]\'’”]'

const letterRules: readonly Rule[] = [
  rule(
    `(?:https?|ftp)://(?:www\\.)?(${addressEnd})/?|www\\.(${addressEnd})/?`,
    ({ match: [, one, other] }) => sayAddress((one ?? other)!.replace(/\/$/, '')),
    'i',
  ),
  rule('[\\w.+-]{1,64}@[a-z\\d-]{1,63}(?:\\.[a-z\\d-]{1,63}){1,6}', ({ match }) => sayAddress(match[0]), 'i'),
  rule(
    `${domain}(?:/(?:${addressEnd})?)?(?:/|(?![\\p{L}\\p{N}-]))(?!\\.[a-z])`,
    ({ match }) => sayAddress(match[0].replace(/\/$/, '')),
    'i',
  ),
  rule('localhost:(\\d{1,5})', ({ match: [, port = ''] }) => `localhost port ${amount(port)}`),
  rule(
    '[A-Z]:\\\\(?:[^\\s\\\\<>"|?*]{1,60}(?: [^\\s\\\\<>"|?*]{1,60}){0,3}\\\\){0,12}[^\\s\\\\<>"|?*]{0,80}[^\\s\\\\<>"|?*.,;:!)]',
    ({ match }) => sayAddress(match[0]),
  ),
  rule(
    `(?:[\\w-]{1,60}/){1,12}[\\w-]{1,60}(?:\\.(?:${files}))(?![\\p{L}\\p{N}])`,
    ({ match }) => sayAddress(match[0]),
    'i',
  ),
  rule(
    `[\\w-]{1,80}(?:\\.[\\w-]{1,20}){0,3}\\.(?:${files})(?![\\p{L}\\p{N}])`,
    ({ match }) => sayAddress(match[0]),
    'i',
  ),
  rule('[\\p{L}\\d]{1,40}(?:_[\\p{L}\\d]{1,40}){1,12}', ({ match }) => sayAddress(match[0])),
  // Sums with the currency's letters in front.
  rule(
    `(${oneOf([...Object.keys(currencySigns).filter((sign) => /^[A-Z]/.test(sign)), ...Object.keys(currencyCodes).filter((code) => /^[A-Z]|^kr$/.test(code))])}) ?(${number}) ?${scale}?(?![\\p{L}\\p{N}])`,
    ({ match: [, name = '', sum = '', size] }) => sayMoney(sum, size, currencySigns[name] ?? currencyCodes[name]!),
  ),
  // Dates that begin with the name of a month or a day.
  rule(
    `${month} (\\d\\d?)(?:st|nd|rd|th)?(?:${dash}(\\d\\d?)(?:st|nd|rd|th)?)?(?:(?:,| of)? (\\d{4}))?${end}`,
    ({ match: [, name = '', d, to, y], after }) => {
      if (Number(d) < 1 || Number(d) > 31 || /^:\d/.test(after)) return undefined
      return `${monthOf(name)} ${ordinal(Number(d))}${to ? ` to ${ordinal(Number(to))}` : ''}${y ? `, ${year(Number(y))}` : ''}`
    },
  ),
  rule(`${month} (\\d{4})${end}`, ({ match: [, name = '', y] }) => `${monthOf(name)} ${year(Number(y))}`),
  rule(
    `${month}${dash}${month}(?![\\p{L}])`,
    ({ match: [, from = '', to = ''] }) => `${monthOf(from)} to ${monthOf(to)}`,
  ),
  rule(
    `(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|nes|rs|ur)?\\.?${dash}(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|nes|rs|ur)?(?![a-z])\\.?`,
    ({ match: [, from = '', to = ''] }) =>
      [from, to].map((name) => days.find((day) => day.startsWith(name))).join(' to '),
  ),
  rule(
    '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?=, ?\\p{L}?\\p{L}?\\p{L}?\\d|,? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|\\d))',
    ({ match: [, name = ''] }) => days.find((day) => day.startsWith(name)),
  ),
  // Abbreviations.
  rule('([vV])\\.(?= \\p{Lu})', ({ before }) => (/\p{Lu}[\p{L}.’']{0,30} $/u.test(before) ? 'versus' : undefined)),
  rule(
    'v(?:er)?\\.? ?(\\d{1,4}(?:\\.\\d{1,5}){0,5})(?!\\p{N})',
    ({ match: [, version = ''] }) =>
      `version ${version
        .split('.')
        .map((part) => amount(part))
        .join(' point ')}`,
  ),
  rule('aka(?!\\p{L})', 'A K A'),
  rule('IoT(?!\\p{L})', 'I O T'),
  rule('w/o(?!\\p{L})', 'without'),
  rule('w/ ?', ({ after }) => (/^\p{L}/u.test(after) ? 'with ' : undefined)),
  rule('c/o(?!\\p{L})', 'care of'),
  rule('N/A(?!\\p{L})', 'not applicable', 'i'),
  rule('and/or(?!\\p{L})', 'and or'),
  rule('P\\.? ?O\\.? (?=Box)', 'P O '),
  rule('(Ph|PH)\\.? ?D(?![\\p{L}])\\.?|PhDs', ({ match }) => (match[0] === 'PhDs' ? "P H D's" : 'P H D')),
  rule('Lt\\. ?Col\\.', 'Lieutenant Colonel'),
  rule('e\\. ?g\\.|eg\\.', 'for example', 'i'),
  rule('i\\. ?e\\.|ie\\.', 'that is', 'i'),
  rule('et al\\.?(?!\\p{L})', 'et al'),
  rule('([NSEW])\\.(?= \\p{Lu}[\\p{Ll}.])', ({ match: [, way = ''], before }) =>
    /\d $/.test(before) ? { N: 'North', S: 'South', E: 'East', W: 'West' }[way] : undefined,
  ),
  rule('([aApP])\\.? ?[mM]\\.(?![\\p{L}])', ({ match: [, letter = ''] }) => `${letter.toUpperCase()} M`),
  rule(
    '(?:\\p{L}\\.){2,8}(?!\\p{L})|(?:\\p{L}\\.){1,7}\\p{L}(?![\\p{L}.])|(\\p{Lu})\\.(?= \\p{Lu})',
    ({ match, before, after }) => {
      const letters = match[0].replaceAll('.', '')
      if (match[1] && !(before === '' || /[\s(“"]$/.test(before))) return undefined
      if (match[1] && match[1] === 'I' && !/\p{Lu}\p{Ll}* $/u.test(before) && !/^ \p{Lu}\./u.test(after))
        return undefined
      return spell(letters)
    },
  ),
  rule('([A-Za-z]{1,7})(\\.)?(?!\\p{L})', sayAbbreviation),
  rule(`AD (\\d{1,4})${end}`, ({ match: [, value = ''] }) => `A D ${yearOrAmount(value)}`),
  // Roman numerals.
  rule("[IVXLCDM]{1,9}(?![\\p{L}\\p{N}’'])", sayRoman),
  rule('[ivx]{2,5}(?!\\p{L})', ({ match: [letters], before }) => {
    const value = sections.test(before) ? romanValue(letters.toUpperCase()) : undefined
    return value === undefined ? undefined : cardinal(value)
  }),
  // Names with signs.
  rule('C\\+\\+', 'C plus plus'),
  rule('([A-GJ])#', ({ match: [, letter] }) => `${letter} sharp`),
  rule(
    '(\\p{Lu}{1,4})&(\\p{Lu}{1,4})(?!\\p{Ll})',
    ({ match: [, one = '', other = ''] }) => `${spell(one)} and ${spell(other)}`,
  ),
  rule(
    '([A-Za-z]{2,30})\\.(js|io|ai|net|ts)(?!\\p{L})',
    ({ match: [, name = '', ending = ''] }) => `${sayLetters(name)} dot ${ending === 'net' ? 'net' : spell(ending)}`,
  ),
  rule(
    '(?:he/she|she/he|him/her|his/her|her/his|yes/no|s/he)(?!\\p{L})',
    ({ match }) => match[0].replace(/^s\//i, 'she/').replace('/', ' or '),
    'i',
  ),
  rule('(\\p{Ll}{2,30})/(?=\\p{Ll}{2})', ({ match: [, word] }) => `${word} slash `),
  // Formulas, acronyms, letters with digits.
  rule(
    '(km|m|cm|mm|ft)([²³])(?![\\p{L}\\p{N}])|(km|m|mi|kg|g|mg|L)/(h|s|kg|L|ml)(?![\\p{L}\\p{N}])',
    ({ match: [, short, power, over, under] }) =>
      short ? sayUnit(short, power!, false) : sayMeasure('', false, [over, '', under]).trim(),
  ),
  rule("(\\p{Lu}{2,6})(['’]s|s)(?!\\p{L})", ({ match: [, letters = ''] }) => `${sayAcronym(letters) ?? letters}'s`),
  rule('(?:[A-Z][a-z]?[\\d₀-₉]{0,3}|\\(|\\)[\\d₀-₉]{0,2}){1,12}(?:[\\d²³⁴]?[+⁺⁻-])?(?![\\p{L}\\p{N}])', ({ match }) =>
    sayFormula(match[0].normalize('NFKC').replace('\u2212', '-')),
  ),
  rule('\\p{sc=Greek}(?!\\p{L})', ({ match }) => greekName(match[0])),
  rule('pH(?!\\p{L})', 'P H'),
  // `iOS`, `mRNA`.
  rule(
    '(\\p{Ll}{1,5})(\\p{Lu}{2,5})(?!\\p{L})',
    ({ match: [, front = '', letters = ''] }) => `${front} ${sayAcronym(letters) ?? letters}`,
  ),
  rule('(\\p{L})([²³])', ({ match: [, letter, power = ''] }) => `${letter} ${sayPower(power)}`),
  rule('m([a-z])²', ({ match: [, letter] }) => `m ${letter} squared`),
  rule(
    `(\\p{L}{1,12})(${superscript})`,
    ({ match: [, word = '', power = ''] }) =>
      `${word.length === 2 && word !== 'pi' ? [...word].join(' ') : word} ${sayPower(power)}`,
  ),
  rule(
    '(\\p{L}) ?\\^ ?[({]?([-−+]?[\\p{L}\\d]{1,5})[)}]?',
    ({ match: [, letter, power = ''] }) => `${letter} ${sayPower(power)}`,
  ),
  rule(
    '(\\p{Lu}{1,6})-(\\d{1,4})(?:[A-Z])?(?![\\p{L}\\p{N}-])',
    ({ match: [whole, letters = '', value = ''] }) =>
      `${letters.length > 1 ? (sayAcronym(letters) ?? letters) : letters} ${amount(value)}${/[A-Z]$/.test(whole) ? ` ${whole.at(-1)}` : ''}`,
  ),
  rule('(FY)(\\d{4}|\\d\\d)(?!\\p{N})', ({ match: [, , value = ''] }) => `F Y ${yearOrAmount(value)}`),
  rule('\\p{L}{1,8}\\d{1,4}(?:\\.\\d{1,3}(?!\\.\\d)|(?:\\p{L}{1,4}\\d{0,4}){0,4})(?![\\p{L}\\p{N}])', ({ match }) =>
    sayMixed(match[0]),
  ),
  rule('\\p{Lu}{2,12}(?!\\p{L})', ({ match, before, after }) =>
    isShouted(before, after) ? undefined : (sayAcronym(match[0]) ?? undefined),
  ),
  rule('\\p{L}{0,20}(?:\\p{Ll}\\p{Lu}|\\p{Lu}{2}\\p{Ll})\\p{L}{0,20}', ({ match }) =>
    /^(?:i|e)(?:\p{Lu})|^Mc|^Mac\p{Lu}|^(?:O|De|La|Le|Di|Van)\p{Lu}\p{Ll}/u.test(match[0])
      ? undefined
      : sayLetters(match[0]),
  ),
]

/** A line in capitals is no row of acronyms. */
function isShouted(before: string, after: string): boolean {
  const words = `${before} ${after}`.match(/\p{L}{2,}/gu) ?? []
  const capitals = words.filter((word) => /^\p{Lu}+$/u.test(word))
  return (
    capitals.length >= 2 &&
    capitals.length * 3 >= words.length * 2 &&
    capitals.some((word) => /^(?:THE|AND|NOT|IS|TO|DO|OF|FOR|YOU|THIS|ARE|WITH|FROM|YOUR)$/.test(word))
  )
}

const signRules: readonly Rule[] = [
  rule(phone, sayPhone),
  // Money.
  rule(
    `([-−])?(${oneOf(Object.keys(currencySigns).filter((sign) => !/^[A-Z]/.test(sign)))}) ?(${number})(?:(?: ?${scale})?${dash}(?:\\2)?(${number}))?(?: ?${scale})?(?![\\p{L}\\p{N}])`,
    (found) => {
      const [whole, minus, sign = '', sum = '', firstSize, to, size] = found.match
      const currency = currencySigns[sign]!
      const isSingle = isAdjective(found)
      const front = minus ? 'minus ' : ''
      if (to === undefined) return front + sayMoney(sum, size, currency, isSingle)
      const isTwice = whole.indexOf(sign) !== whole.lastIndexOf(sign)
      return `${front}${isTwice ? sayMoney(sum, firstSize, currency) : amount(sum)} to ${sayMoney(to, size, currency)}`
    },
  ),
  rule("['’‘](\\d)0s(?![\\p{L}\\p{N}])", ({ match: [, ten] }) => many(cardinal(Number(ten) * 10))),
  rule("['’‘](?=\\d\\ders(?!\\p{L}))", ''),
  rule("['’‘](\\d\\d)(?![\\p{L}\\p{N}'’])", ({ match: [, value = ''], before }) =>
    /\p{L}$/u.test(before) ? undefined : Number(value) < 10 ? `oh ${cardinal(Number(value))}` : cardinal(Number(value)),
  ),
  // Signs before a number.
  rule('[-−](?=[.\\d])', ({ before }) =>
    /(?:^|[\s(=,^*×<>/:]|\d - )$/.test(before) && !/\p{L} - $/u.test(before) ? 'minus ' : undefined,
  ),
  rule('[-−–](?= \\d)', ({ before }) => (/\d $/.test(before) ? 'minus' : undefined)),
  rule('−(?= ?\\p{L})', 'minus '),
  rule('№ ?(?=\\d)', 'number '),
  rule('#(?=\\d{1,12}(?!\\p{L}|\\d))', 'number '),
  rule(
    '#(\\d{1,4})?(\\p{L}[\\p{L}\\p{M}\\d_]{0,80})',
    ({ match: [, value, words = ''] }) =>
      `hashtag ${value ? `${yearOrAmount(value)} ` : ''}${words
        .split('_')
        .map((word) => (/\d/.test(word) ? sayMixed(word) : sayLetters(word)))
        .join(' ')}`,
  ),
  rule('@([\\p{L}\\d_]{1,30})(?:\\.[\\p{L}\\d_]{1,30})?', ({ match: [whole], before }) =>
    /[\p{L}\d]$/u.test(before) ? undefined : `at ${sayAddress(whole.slice(1))}`,
  ),
  rule('~ ?(?=\\d)', 'about '),
  rule('± ?(?=\\d)', 'plus or minus '),
  rule('\\+(?=\\d)', ({ before }) => (/\d ?$/.test(before) ? ' plus ' : 'plus ')),
  rule('([<>≤≥]) ?(?=[-\\d$€£])', ({ match: [, sign = ''], before }) =>
    /[\p{L}\p{N})] ?$/u.test(before) && /(?:^|\s)\p{L}? ?$|[\d)] ?$/u.test(before)
      ? undefined
      : `${{ '<': 'less than', '>': 'more than', '≤': 'at most', '≥': 'at least' }[sign]} `,
  ),
  rule('√(?=[\\p{L}\\d(])', 'square root of '),
  rule('§§? ?(?=\\d)', 'section '),
  // Between ordinals and between large numbers: `1st–3rd`, `10k–20k`, `L42-L50`; a long dash also behind a word.
  rule('[-–—](?=(\\d|\\p{Lu}{1,2}\\d))', ({ match: [sign, next = ''], before }) =>
    /\d(?:st|nd|rd|th|k|K|M|bn)$/.test(before) ||
    (/^\d/.test(next)
      ? sign !== '-' && /\p{Ll}{3}$/u.test(before)
      : new RegExp(`(?:^|\\s)${next.slice(0, -1)}\\d{1,4}$`).test(before))
      ? ' to '
      : undefined,
  ),
  rule('[-–—](?=\\d)', ({ before }) =>
    /(?:[ap]\.?m\.?|:\d\d|\d) ?$/i.test(before) && !/\d-\d+$/.test(before) ? ' to ' : undefined,
  ),
  // Operators, also those of programs.
  rule('===?|!==?|<=|>=|[-=]>|[-+]=(?= )', ({ match: [sign], before }) => {
    const name = signName({ '!': '≠', '<': '≤', '>': '≥' }[sign[0]!] ?? sign[0]!)
    const words = /[-=]>/.test(sign) ? 'to' : /[-+]=/.test(sign) ? `${sign[0] === '+' ? 'plus' : 'minus'} equals` : name
    return /\s$|[\p{L}\p{N})\]]$/u.test(before) ? ` ${words} ` : undefined
  }),
  rule('!(?= ?[=+/*-])', ({ before }) => (/\d$/.test(before) ? ' factorial' : undefined)),
  rule('\\.\\.\\.?(?=\\d)', ({ before }) => (/\d$/.test(before) ? ' to ' : undefined)),
  rule('★{1,5}☆{0,4}', ({ match: [stars], before }) => {
    const count = stars.replaceAll('☆', '').length
    return count === 1 && /\d ?$/.test(before) ? undefined : ` ${cardinal(count)} star${count === 1 ? '' : 's'} `
  }),
  rule('([*×·⋅]) ?(?=[\\d(])', ({ before }) => (/[\d)]$/.test(before.trimEnd()) ? ' times ' : undefined)),
  rule('/ ?(?=\\d)', ({ match: [sign], before, after }) => {
    if (/[\p{L}%]$/u.test(before)) return ' slash '
    if (/\.\d$/.test(before) && /^(?:5|10|100)(?!\d)/.test(after)) return ' out of '
    return /\d$/.test(before) && sign === '/' ? ' over ' : /[\d)] ?$/.test(before) ? ' divided by ' : undefined
  }),
  rule(
    '/(month|mo|year|yr|week|wk|day|hour|hr|h|person|night|kg|lb|unit|user|seat|GB|minute|min|km|mile|l|L)(?!\\p{L})',
    ({ match: [, per = ''], before }) => (/[\p{L}\p{N}] ?$/u.test(before) ? ` per ${units[per] ?? per}` : undefined),
  ),
  rule('/(?=\\p{L})', ({ before, after }) =>
    !/\p{L}$/u.test(before) ? undefined : /\p{Lu}{2}$/u.test(before) && /^\p{Lu}/u.test(after) ? ' ' : ' slash ',
  ),
  // Paths.
  rule('(?:~|\\.{1,2})?/[\\w.~-]{1,80}(?:/[\\w.~-]{1,80}){0,12}/?', ({ match, before }) =>
    /(?:^|[\s("“`])$/.test(before) ? sayAddress(match[0].replace(/[./]{1,4}$/, '')) : undefined,
  ),
  rule('\\.(NET|net)(?!\\p{L})', 'dot net'),
  rule('\\.\\d{1,12}(?![\\p{N}.])', ({ match, before }) =>
    /(?:^|\s|[-(])$/.test(before) ? amount(match[0]) : undefined,
  ),
  rule('[^\\p{L}\\p{N}\\p{P}\\s`]|[%&@#*§¶‰′″]', ({ match, before, after }) => {
    const name = currencySigns[match[0]]?.[0] ?? signName(match[0]) ?? greekName(match[0])
    return name && `${/[(“"]$/.test(before) ? '' : ' '}${name}${/^[.,;:!?)”"]/.test(after) ? '' : ' '}`
  }),
]

export const english: Rules = { digits: digitRules, letters: letterRules, signs: signRules }
