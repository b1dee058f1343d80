import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<LanguageData & { readonly ordinals: readonly string[] }>('text/reading/italian.json')
const { small, tens, ordinals } = data

function underThousand(value: number): string {
  if (value >= 100) {
    const [front, rest] = [Math.floor(value / 100), value % 100]
    return `${front > 1 ? small[front] : ''}cent${rest === 8 || Math.floor(rest / 10) === 8 ? '' : 'o'}${rest > 0 ? underThousand(rest) : ''}`
  }
  if (value < 20) return small[value]!
  const [ten, one] = [tens[Math.floor(value / 10)]!, value % 10]
  if (one === 0) return ten
  return `${one === 1 || one === 8 ? ten.slice(0, -1) : ten}${one === 3 ? 'tré' : small[one]}`
}

function cardinal(value: number): string {
  if (value === 0) return 'zero'
  const [high, low] = [Math.floor(value / 1_000_000), value % 1_000_000]
  const [thousands, rest] = [Math.floor(low / 1000), low % 1000]
  const front =
    thousands === 0 ? '' : thousands === 1 ? 'mille' : `${underThousand(thousands).replace('tré', 'tre')}mila`
  const words = `${front}${rest > 0 ? underThousand(rest) : ''}`
  const millions = groupsOf(high).map(([count, power]) =>
    count === 1 ? `un ${power ? 'miliardo' : 'milione'}` : `${underThousand(count)} ${power ? 'miliardi' : 'milioni'}`,
  )
  return [...millions, words].filter(Boolean).join(' ')
}

function ordinal(value: number, isFeminine = false): string {
  const words =
    ordinals[value] ??
    `${cardinal(value)
      .replace(/tré$/, 'tree')
      .replace(/sei$/, 'seii')
      .replace(/[aeio]$/, '')}esimo`
  return isFeminine ? words.replace(/o$/, 'a') : words
}

const habits: Habits = {
  ...data,
  cardinal,
  date: (day, month, year) => `${day === 1 ? 'primo' : cardinal(day)} ${month}${year ? ` ${year}` : ''}`,
  year: cardinal,
  clock: ':|(?<=(?:ore|[Dd]?[Aa]lle) \\d\\d?)\\.',
  clockEnd: '',
  time: (hour, minute) => `${hour === 1 ? 'una' : cardinal(hour)}${minute ? ` e ${cardinal(minute)}` : ''}`,
  cents: (whole, cents) => `${whole} e ${cents}`,
  ofScale: (currency) => `di ${currency}`,
  agree: (words, after) =>
    /^ \p{Ll}{3,}/u.test(after)
      ? /^ \p{Ll}+a(?!\p{L})/u.test(after)
        ? words.replace(/^uno$/, 'una').replace(/^un mezzo$/, 'mezza')
        : words.replace(/^uno$/, 'un').replace(/^un mezzo$/, 'mezzo')
      : words,
  ordinalMark: '[ºª°](?! ?[CF]\\b)',
  ordinal: (value, mark) => ordinal(value, mark === 'ª'),
  more: {
    // `2° piano`, but `20° all'ombra`.
    digits: [
      rule('(\\d{1,2})°(?= (?!di |a |al|in |e |sotto|sopra|nel|per |con )\\p{Ll}{3})', ({ match: [, value] }) =>
        ordinal(Number(value)),
      ),
    ],
  },
  roman(value, { before, after, match }) {
    if (/^ secol[oi]/.test(after)) return ordinal(value)
    if (/secolo $/.test(before)) return ordinal(value)
    return /\p{Lu}\p{Ll}{2,} $/u.test(before) && value < 31 && !/^[CDMLX]$/.test(match[0]) ? ordinal(value) : undefined
  },
}

export const italian = rulesOf(habits)
