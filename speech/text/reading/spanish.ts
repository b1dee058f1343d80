import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<LanguageData & { readonly hundreds: readonly string[]; readonly ordinals: readonly string[] }>(
  'text/reading/spanish.json',
)
const { small, tens, hundreds, ordinals } = data

function underThousand(value: number): string {
  if (value === 100) return 'cien'
  const rest = value % 100
  const low =
    rest < 30 ? small[rest]! : `${tens[Math.floor(rest / 10)]}${rest % 10 > 0 ? ` y ${small[rest % 10]}` : ''}`
  return value < 100 ? low : `${hundreds[Math.floor(value / 100)]}${rest > 0 ? ` ${low}` : ''}`
}

/** Before a noun `uno` loses its end. */
const counting = (words: string) => words.replace(/veintiuno$/, 'veintiún').replace(/\buno$/, 'un')

function cardinal(value: number): string {
  if (value === 0) return 'cero'
  const [high, low] = [Math.floor(value / 1_000_000), value % 1_000_000]
  const thousands = groupsOf(low).map(([count, power]) =>
    power === 0 ? underThousand(count) : count === 1 ? 'mil' : `${counting(underThousand(count))} mil`,
  )
  return [high > 0 ? (high === 1 ? 'un millón' : `${counting(cardinal(high))} millones`) : '', ...thousands]
    .filter(Boolean)
    .join(' ')
}

/** `doscientas casas`, `una casa`, `veintiún días`. */
function agree(words: string, after: string): string {
  const [, noun = ''] = /^ (\p{Ll}{2,})/u.exec(after) ?? []
  if (/^(?:y|o|de|del|en|a|por|con|que|es|son|más|menos|se|al|hasta|para|millones)$/.test(noun) || noun === '')
    return words
  const isFeminine =
    /as?$/.test(noun) &&
    !/^(?:días?|problemas?|sistemas?|programas?|temas?|mapas?|planetas?|idiomas?|poemas?|climas?|para|hasta)$/.test(
      noun,
    )
  return isFeminine
    ? words
        .replace(/ientos/g, 'ientas')
        .replace(/quinientos/, 'quinientas')
        .replace(/uno$/, 'una')
        .replace(/^un medio$/, 'media')
    : counting(words).replace(/^un medio$/, 'medio')
}

const habits: Habits = {
  ...data,
  cardinal,
  counting,
  date: (day, month, year) => `${cardinal(day)} de ${month}${year ? ` de ${year}` : ''}`,
  year: cardinal,
  clock: ':|\\.(?=\\d\\d ?h)|(?<=las \\d\\d?)\\.',
  clockEnd: '(?: ?h(?:rs)?\\.?)?',
  time: (hour, minute, end) =>
    `${hour === 1 ? 'una' : cardinal(hour)}${minute ? ` ${minute < 10 ? 'cero ' : ''}${cardinal(minute)}` : ''}${end.includes('h') ? (hour === 1 && !minute ? ' hora' : ' horas') : ''}`,
  cents: (whole, cents) => `${whole} con ${cents}`,
  ofScale: (currency) => `de ${currency}`,
  agree,
  ordinalMark: '\\.?[ºª°]|er|ro|ra|do|da|to|ta',
  ordinal(value, mark) {
    const stem = ordinals[value]
    if (!stem) return /[ºª°]/.test(mark) ? cardinal(value) : undefined
    return /er$/.test(mark) ? stem : `${stem}${/ª|a$/.test(mark) ? 'a' : 'o'}`
  },
  roman(value, { before, match }) {
    if (/siglos? $/i.test(before)) return cardinal(value)
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^[CDMLX]$/.test(match[0])) return undefined
    return value < 11 ? `${ordinals[value]}o` : cardinal(value)
  },
  more: {
    digits: [
      rule('1\\.?[º°](?= de \\p{L})', 'primero'),
      rule('(\\d{1,2}) h(?![\\p{L}\\p{N}])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, 'h')),
    ],
  },
}

export const spanish = rulesOf(habits)
