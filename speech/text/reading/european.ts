/** What German, French, Spanish, Italian, Portuguese and Dutch have in common: a decimal comma, the day before the month. */
import { digitWords, romanValue } from './numbers.ts'
import { type Found, type Rule, type Rules, rule } from './rules.ts'

/** A thing that is counted: with its article for one, and by itself for many. */
export type Counted = readonly [one: string, many: string]

/** The words of a language, as its JSON file has them. */
export interface LanguageData {
  /** The numbers that are one word each, and the tens. */
  readonly small: readonly string[]
  readonly tens: readonly string[]
  readonly point: string
  /** Whether the digits behind the comma are read one by one, or as a number. */
  readonly decimals: 'digits' | 'number'
  readonly months: readonly string[]
  /** The months as they are shortened, with or without a dot. */
  readonly shortMonths: readonly string[]
  /** The days from Monday on, and as they are shortened. */
  readonly days: readonly string[]
  readonly shortDays: readonly string[]
  /** What is behind a square, a cube, and before another power. */
  readonly powers: readonly string[]
  /** Between the numbers of a ratio: `3:1`. */
  readonly ratio: string
  /** Signs of formulas. */
  readonly signs: Readonly<Record<string, string>>
  /** The pattern of a telephone number, which is read digit by digit. */
  readonly phone: string
  /** By sign and code. */
  readonly currencies: Readonly<Record<string, Counted>>
  /** By letters behind a number: `Mio.`. */
  readonly scales: Readonly<Record<string, Counted>>
  readonly units: Readonly<Record<string, Counted>>
  /** A half, a third, two thirds, a quarter, three quarters; and a half behind a whole number. */
  readonly fractions: readonly string[]
  readonly half: string
  /** Hundredths of a currency by themselves. */
  readonly cent: string
  /** Abbreviations as they are written, and their words; those with `#` stand before a number. */
  readonly abbreviations: Readonly<Record<string, string>>
  readonly words: Readonly<
    Record<
      'minus' | 'to' | 'plus' | 'times' | 'over' | 'equals' | 'and' | 'at' | 'number' | 'per' | 'dot' | 'dash',
      string
    >
  > & { readonly from?: string }
}

export interface Habits extends LanguageData {
  cardinal(value: number): string
  /** A number before a noun, where it has another form there: `veintiún`. */
  counting?(words: string): string
  /** A date; the year is in words. */
  date(day: number, month: string, year: string | undefined, before: string): string
  year(value: number): string
  /** The pattern between hour and minute, and what may stand behind both. */
  readonly clock: string
  readonly clockEnd: string
  time(hour: number, minute: number | undefined, end: string): string
  /** A sum with hundredths; the whole is in words, with the currency. */
  cents(whole: string, cents: string, currency: string): string
  /** What joins a number with letters behind it to its currency. */
  ofScale(currency: string): string
  /** The pattern of what makes a number an ordinal, and its words. */
  readonly ordinalMark: string
  ordinal(value: number, mark: string, found: Found): string | undefined
  /** The number before a noun, where its form depends on that: `una`. */
  agree?(words: string, after: string): string
  /** A Roman numeral behind a name, or before or behind a century. */
  roman(value: number, found: Found): string | undefined
  readonly more?: { readonly digits?: readonly Rule[]; readonly letters?: readonly Rule[] }
}

const space = '[ \\u00a0\\u202f]'
const number = `(?:\\d{1,3}(?:[.\\u00a0\\u202f ]\\d{3}){1,4}(?:,\\d{1,9})?(?! ?\\d)|\\d{1,15}(?:,\\d{1,9})?(?!\\d)|\\d{1,9}\\.\\d{1,2}(?![\\d.]))`
const end = '(?![\\p{L}\\p{N}]|[.,]\\d)'
const oneOf = (words: readonly string[]) =>
  words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replace(/[$.*+?^()]/g, '\\$&').replaceAll(' ', '[ \\u00a0\\u202f]?'))
    .join('|')

/** What stands before a ratio that could be a time. */
const scaleWord =
  /(?:^|\s)(?:Maßstab|Verhältnis|échelle|rapport|escala|scala|schaal|proporción|proporção|rapporto|verhouding)(?: \p{L}{2,3})? $/iu

/** Makes the rules of a language from its habits. */
export function rulesOf(habits: Habits): Rules {
  const {
    cardinal,
    counting = (words: string) => words,
    agree = (words: string) => words,
    words,
    units,
    currencies,
    scales,
    months,
  } = habits
  const month = `(${oneOf([...months, ...habits.shortMonths])})\\.?`
  const monthOf = (text: string) => {
    const short = text.toLowerCase().replace('.', '')
    return (
      months.find((name) => name.toLowerCase() === short) ??
      months.find((name) => name.toLowerCase().startsWith(short.slice(0, 3) === 'mrt' ? 'maa' : short.slice(0, 4))) ??
      months.find((name) => name.toLowerCase().startsWith(short.slice(0, 3)))
    )
  }
  const isOne = (text: string) => plain(text) === '1'
  /** In words: `1.234,5`, `007`. */
  const amount = (text: string): string => {
    const [whole = '', part] = plain(text).split(',')
    const front = /^0\d/.test(whole) || whole.length > 12 ? digitWords(whole, cardinal) : cardinal(Number(whole))
    if (part === undefined) return front
    const zeros = habits.decimals === 'digits' || part.length > 3 ? part.length : /^0*/.exec(part)![0].length
    const behind = [...part.slice(0, zeros)].map((digit) => cardinal(Number(digit)))
    return [front, habits.point, ...behind, ...(zeros < part.length ? [cardinal(Number(part.slice(zeros)))] : [])].join(
      ' ',
    )
  }
  const count = (text: string, [one, many]: Counted) =>
    isOne(text) ? one : `${agree(counting(amount(text)), ` ${many}`)} ${many}`
  const yearWords = (text: string) => (/^(?:1[1-9]|20)\d\d$/.test(text) ? habits.year(Number(text)) : amount(text))
  const sayDate = (day: string, name: string | undefined, year: string | undefined, before: string) =>
    name === undefined || Number(day) < 1 || Number(day) > 31
      ? undefined
      : habits.date(Number(day), name, year && habits.year(Number(year)), before)
  const own = <Value>(table: Readonly<Record<string, Value>>, text: string) => withoutBlanks(table)[bare(text)]!
  const sayMoney = (sum: string, size: string | undefined, name: string): string => {
    const currency = own(currencies, name)
    if (size) return `${count(sum, own(scales, size))} ${habits.ofScale(currency[1])}`
    const [whole = '', part = ''] = plain(sum).split(',')
    if (part.length !== 2 || part === '00') return count(part === '00' ? whole : sum, currency)
    if (whole === '0') return `${counting(cardinal(Number(part)))} ${habits.cent}`
    return habits.cents(count(whole, currency), cardinal(Number(part)), currency[1])
  }
  const scale = `(${oneOf(Object.keys(scales))})`
  const money = `(${oneOf(Object.keys(currencies))})`
  const between = '(?: ?[–—] ?|-)'
  const shortDay = `(${oneOf(habits.shortDays)})`
  const dayOf = (short: string) =>
    habits.days[habits.shortDays.findIndex((day) => day.toLowerCase() === short.toLowerCase())]
  const beforeDay = new RegExp(`^,? (?:\\p{L}{1,5} )?${shortDay}\\.`, 'iu')
  const behindDay = new RegExp(`${shortDay}\\.,? (?:\\p{L}{1,5} )?$`, 'iu')
  const superscript = '[⁻⁺]?[⁰¹²³⁴-⁹]{1,6}'
  const sayPower = (text: string): string => {
    const power = text.normalize('NFKC').replace('\u2212', '-')
    const [squared, cubed, other] = habits.powers
    if (power === '2' || power === '3') return power === '2' ? squared! : cubed!
    return `${other} ${power.startsWith('-') ? `${words.minus} ` : ''}${amount(power.replace(/\D/g, ''))}`
  }
  const sayFraction = (over: string, under: string) =>
    habits.fractions[['1/2', '1/3', '2/3', '1/4', '3/4'].indexOf(`${over}/${under}`)]
  const abbreviations = Object.keys(habits.abbreviations)

  const digits: readonly Rule[] = [
    rule('24/7(?![\\d/])', () => `${cardinal(24)} ${cardinal(7)}`),
    rule('#(?=\\d{1,4}(?!\\p{L}|\\d))', `${words.number} `),
    ...(habits.more?.digits ?? []),
    rule(`(\\d{4})-(\\d\\d)-(\\d\\d)${end}`, ({ match: [, year, m, d = ''], before }) =>
      sayDate(d, months[Number(m) - 1], year, before),
    ),
    rule(`(\\d\\d?)([./-])(\\d\\d?)\\2(\\d{4})${end}`, ({ match: [, d = '', , m, year], before }) =>
      sayDate(d, months[Number(m) - 1], year, before),
    ),
    rule(
      `(\\d\\d?)(?:\\.|er|°|º|\\.º)? (?:de )?${month}(?!\\p{L})(?:(?: de)? (\\d{4}))?${end}`,
      ({ match: [, d = '', name = '', year], before }) => sayDate(d, monthOf(name), year, before),
      'i',
    ),
    rule('(\\d{1,4}):(\\d{1,6})(?![\\d:])', ({ match: [, one = '', other = ''], before }) =>
      scaleWord.test(before) ? [amount(one), habits.ratio, amount(other)].join(' ') : undefined,
    ),
    rule(
      `([01]?\\d|2[0-4])(?:${habits.clock})([0-5]\\d)(${habits.clockEnd})(?![\\d:]|[.,]\\d)`,
      ({ match: [, hour, minute, unit = ''] }) => habits.time(Number(hour), Number(minute), unit),
    ),
    rule(
      `(?:(?:(\\d{1,4}) ?)?([½⅓⅔¼¾])|(?:(\\d{1,3}) )?([1-3])/([2-4])(?![\\p{N}/]))(?: (${oneOf(Object.keys(units))})(?![\\p{L}\\p{N}/]))?`,
      ({ match: [, whole, sign, front, over = '', under = '', short], after }) => {
        const [one = over, two = under] = sign?.normalize('NFKC').split('⁄') ?? []
        const words = sayFraction(one, two)
        const number = whole ?? front
        if (words === undefined) return undefined
        const [single = '', many] = short === undefined ? [] : own(units, short)
        const noun = single.slice(single.search(/(?<=[ '])/))
        if (number === undefined && short !== undefined)
          return two === '2' ? agree(words, ` ${noun}`) + ` ${noun}` : `${words} ${habits.ofScale(noun)}`
        if (number === undefined) return agree(words, after)
        const sum = one === '1' && two === '2' ? habits.half : `${habits.words.and} ${words}`
        return `${amount(number)} ${sum}${many ? ` ${many}` : ''}`
      },
    ),
    rule('(\\d{1,4}):(\\d{1,4})(?![\\d:])', ({ match: [, one = '', other = ''] }) =>
      [amount(one), habits.ratio, amount(other)].join(' '),
    ),
    rule(`(?:${habits.phone})(?!\\d)`, ({ match }) => sayDigits(match[0])),
    rule('\\d{2,4}(?:[ /-]\\d{2,8}){0,4}(?!\\d)', ({ match, before }) =>
      /(?:^|[^\p{L}])(?:tel|tél|telefon|telefono|teléfono|telefone|telefoon|téléphone|fax|mobil|tfno)[.:]{0,2} $/iu.test(
        before,
      )
        ? sayDigits(match[0])
        : undefined,
    ),
    // Money, measures, and ranges of both.
    rule(
      `(${number})${space}?${scale}?${space}?${money}(?![\\p{L}\\p{N}])`,
      ({ match: [, sum = '', size, name = ''] }) => sayMoney(sum, size, name),
    ),
    rule(
      `(${number})(?:${between}(${number}))?${space}?(${oneOf(Object.keys(units))})(?![\\p{L}\\p{N}/])`,
      ({ match: [, from = '', to, short = ''], before }) => {
        const unit = own(units, short)
        return to === undefined ? count(from, unit) : `${range(from, to, before)} ${unit[1]}`
      },
    ),
    rule(`(${number})${space}?${scale}(?![\\p{L}\\p{N}])`, ({ match: [, sum = '', size = ''] }) =>
      count(sum, own(scales, size)),
    ),
    rule(`(\\d{1,4})(?:${habits.ordinalMark})(?!\\p{L})`, (found) =>
      habits.ordinal(Number(found.match[1]), found.match[0].replace(/^\d+/, ''), found),
    ),
    rule('\\d{1,4}(?:\\.\\d{1,4}){2,5}(?![\\d])', ({ match }) =>
      /^\d{1,3}(?:\.\d{3})+$/.test(match[0])
        ? undefined
        : match[0]
            .split('.')
            .map((part) => amount(part))
            .join(` ${words.dot} `),
    ),
    // `Version 2.1`.
    rule('(\\d{1,3})\\.(\\d{1,2})(?![\\d.])', ({ match: [, one = '', other = ''] }) =>
      [amount(one), words.dot, amount(other)].join(' '),
    ),
    rule(`(${number})${between}(${number})(?![\\p{N}-])`, ({ match: [, from = '', to = ''], before }) =>
      range(from, to, before),
    ),
    rule(
      `(${number})(?:(${superscript})| ?\\^ ?([-−]?\\d{1,4}))`,
      ({ match: [, value = '', high, power = ''] }) => `${amount(value)} ${sayPower(high ?? power)}`,
    ),
    rule(number, ({ match: [text], after }) => agree(yearWords(text), after) + (/^\p{L}/u.test(after) ? ' ' : '')),
  ]
  const abbreviated: readonly Rule[] = [
    rule(`(?:${oneOf(abbreviations.filter((short) => !short.endsWith('#')))})(?!\\p{L})`, ({ match: [text] }) =>
      own(habits.abbreviations, text),
    ),
    rule(
      `(${oneOf(abbreviations.filter((short) => short.endsWith('#')).map((short) => short.slice(0, -1)))}) ?(?=\\d)`,
      ({ match: [, text = ''] }) => `${own(habits.abbreviations, `${text}#`)} `,
    ),
  ]
  const letters: readonly Rule[] = [
    ...(habits.more?.letters ?? []),
    // Days: `Mo–Fr`, `lun. a vie.`, `Mi., 3. Mai`.
    rule(
      `${shortDay}\\.?${between}${shortDay}(?![\\p{L}\\p{N}])\\.?`,
      ({ match: [, from = '', to = ''] }) => [dayOf(from), words.to, dayOf(to)].join(' '),
      'i',
    ),
    rule(
      `${shortDay}\\.`,
      ({ match: [, day = ''], before, after }) =>
        /^,? \d/.test(after) || beforeDay.test(after) || behindDay.test(before) ? dayOf(day) : undefined,
      'i',
    ),
    rule(
      `(\\p{L}{1,3})(?:(${superscript})| ?\\^ ?([-−]?\\d{1,4}))`,
      ({ match: [, name = '', high, power = ''] }) => `${name} ${sayPower(high ?? power)}`,
    ),
    rule(
      '(?:https?://|www\\.)[^\\s<>"]{1,500}[^\\s<>".,;:!?)]|[\\w.+-]{1,64}@[a-z\\d-]{1,63}(?:\\.[a-z\\d-]{1,63}){1,6}|(?:[a-z\\d-]{2,63}\\.){1,4}(?:com|org|net|de|fr|es|it|pt|nl|br|eu|ch|at|be|io)(?![\\p{L}\\p{N}-])',
      ({ match }) => sayAddress(match[0]),
      'i',
    ),
    rule('x(?= ?\\d)', ({ before }) => (/\d ?$/.test(before) ? ` ${words.times} ` : undefined)),
    rule(
      `${money}${space}?(${number})${space}?${scale}?(?![\\p{L}\\p{N}])`,
      ({ match: [, name = '', sum = '', size] }) => sayMoney(sum, size, name),
    ),
    ...abbreviated,
    rule("([IVXLCDM]{1,9})(?![\\p{L}\\p{N}'’])(?:\\.(?= ?[\\p{Ll},;])|\\.(?= (?:Jahrhundert|Jh)))?", (found) => {
      const value = romanValue(found.match[1]!)
      return value === undefined ? undefined : habits.roman(value, found)
    }),
    rule('([IVX]{1,6})(?:e|er|ème)(?!\\p{L})', (found) => {
      const value = romanValue(found.match[1]!)
      return value && habits.ordinalMark.includes('ème') ? habits.ordinal(value, 'e', found) : undefined
    }),
  ]
  const signs: readonly Rule[] = [
    ...abbreviated,
    rule(`(?:${habits.phone})(?!\\d)`, ({ match }) => sayDigits(match[0])),
    rule(
      `${money}${space}?(${number})${space}?${scale}?(?![\\p{L}\\p{N}])`,
      ({ match: [, name = '', sum = '', size] }) => sayMoney(sum, size, name),
    ),
    // One word of each hashtag: `#BlackFriday`.
    rule('#(\\p{L}[\\p{L}\\p{M}_]{0,80})', ({ match: [, tag = ''] }) => {
      const parts = tag.replaceAll('_', ' ').replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      return `hashtag ${parts}`
    }),
    rule('/(?=\\p{L})', ({ before }) =>
      /\d[^\p{L}\d]{0,3}\p{L}{0,3}$|[€$£]$/u.test(before) ? ` ${words.per} ` : undefined,
    ),
    rule('\\+(?=\\d[\\d ]{7,20})\\+\\d{1,3}(?: \\d{1,9}){1,6}', ({ match }) => `plus ${sayDigits(match[0])}`),
    rule('[-−](?=\\d)', ({ before }) => (/(?:^|[\s(=])$/.test(before) ? `${words.minus} ` : undefined)),
    rule('[-−](?= \\d)', ({ before }) => (/\d $/.test(before) ? words.minus : undefined)),
    rule("['’](\\d\\d)(?!\\d)", ({ match: [, value = ''], before }) =>
      /\p{L}$/u.test(before) ? undefined : amount(value),
    ),
    ...(
      [
        ['+', 'plus'],
        ['×', 'times'],
        ['÷', 'over'],
        ['=', 'equals'],
        ['&', 'and'],
        ['@', 'at'],
        ['#', 'number'],
      ] as const
    ).map(([sign, name]) => rule(sign === '+' ? '\\+' : sign, ` ${words[name]} `)),
    ...Object.entries(habits.signs).map(([sign, name]) => rule(sign, ` ${name} `)),
  ]
  return { digits, letters, signs }

  function sayDigits(text: string): string {
    return text
      .split(/\D+/)
      .filter(Boolean)
      .map((group) => digitWords(group, cardinal))
      .join(', ')
  }

  function sayAddress(text: string): string {
    const names: Readonly<Record<string, string>> = {
      '.': words.dot,
      '@': words.at,
      '-': words.dash,
      '/': 'slash',
      _: 'underscore',
    }
    return text
      .replace(/^https?:\/\//i, '')
      .replace(/\/$/, '')
      .replace(/[.@/_-]/g, (sign) => ` ${names[sign]} `)
  }

  function range(from: string, to: string, before: string): string {
    // What does not rise is a score: `3-1`.
    if (/^\d{1,2}$/.test(from) && /^\d{1,2}$/.test(to) && Number(from) >= Number(to))
      return [amount(from), habits.ratio, amount(to)].join(' ')
    const front =
      words.from && !/\b(?:da|dal|dalle|tra|fra|pagine) $/.test(before) && !/^(?:1[1-9]|20)\d\d$/.test(from)
        ? `${words.from} `
        : ''
    return `${front}${yearWords(from)} ${words.to} ${yearWords(to)}`
  }
}

/** Blanks within an abbreviation are optional. */
const bare = (text: string) => text.replace(/[ \u00a0\u202f]/g, '')
const bareTables = new WeakMap<object, Readonly<Record<string, unknown>>>()
function withoutBlanks<Value>(table: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const known =
    bareTables.get(table) ?? Object.fromEntries(Object.entries(table).map(([key, value]) => [bare(key), value]))
  bareTables.set(table, known)
  return known as Readonly<Record<string, Value>>
}

/** Digits with a comma, without the marks between thousands. */
function plain(text: string): string {
  const grouped = text.replace(/[.\u00a0\u202f ](?=\d{3}(?!\d))/g, '')
  return grouped.replace('.', ',')
}
