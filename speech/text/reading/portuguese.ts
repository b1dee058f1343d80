import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<
  LanguageData & {
    readonly hundreds: readonly string[]
    readonly ordinals: readonly string[]
    readonly tenths: readonly string[]
  }
>('text/reading/portuguese.json')
const { small, tens, hundreds, ordinals, tenths } = data

function underThousand(value: number): string {
  if (value === 100) return 'cem'
  const rest = value % 100
  const low =
    rest < 20 ? small[rest]! : `${tens[Math.floor(rest / 10)]}${rest % 10 > 0 ? ` e ${small[rest % 10]}` : ''}`
  return value < 100 ? low : `${hundreds[Math.floor(value / 100)]}${rest > 0 ? ` e ${low}` : ''}`
}

/** The last group is joined by `e` where it is below a hundred, or whole hundreds. */
function cardinal(value: number): string {
  if (value === 0) return 'zero'
  const groups = groupsOf(value)
  return groups
    .map(([count, power], index) => {
      const words =
        power === 1 && count === 1
          ? 'mil'
          : `${underThousand(count)}${['', ' mil', count > 1 ? ' milhões' : ' milhão', count > 1 ? ' bilhões' : ' bilhão', count > 1 ? ' trilhões' : ' trilhão'][power]}`
      const isJoined = index > 0 && index === groups.length - 1 && (count < 100 || count % 100 === 0)
      return `${index === 0 ? '' : isJoined ? ' e ' : ' '}${words}`
    })
    .join('')
}

function ordinal(value: number, isFeminine: boolean): string | undefined {
  if (value > 99 || value < 1) return undefined
  const words = [tenths[Math.floor(value / 10)], ordinals[value % 10]].filter((word) => word && word !== '-').join(' ')
  return isFeminine ? words.replace(/o\b/g, 'a') : words
}

/** `duas casas`, `duzentas pessoas`. */
function agree(words: string, after: string): string {
  const [, noun = ''] = /^ (\p{Ll}{2,})/u.exec(after) ?? []
  const isFeminine =
    /(?:as?|ções|ção|dade|dades|vezes|colheres)$/.test(noun) &&
    !/^(?:dias?|problemas?|sistemas?|programas?|temas?|mapas?|planetas?|idiomas?|poemas?|(?:quilo|mili|micro)?gramas?|para|da|das|na|nas)$/.test(
      noun,
    )
  return isFeminine
    ? words
        .replace(/entos/g, 'entas')
        .replace(/\bum$/, 'uma')
        .replace(/^meio$/, 'meia')
        .replace(/\bdois$/, 'duas')
    : words
}

const habits: Habits = {
  ...data,
  cardinal,
  date: (day, month, year) => `${day === 1 ? 'primeiro' : cardinal(day)} de ${month}${year ? ` de ${year}` : ''}`,
  year: cardinal,
  clock: ' ?h ?|:',
  clockEnd: '(?: ?h|min)?',
  time: (hour, minute) =>
    minute
      ? `${feminine(cardinal(hour))} e ${cardinal(minute)}`
      : `${feminine(cardinal(hour))} hora${hour > 1 ? 's' : ''}`,
  cents: (whole, cents, currency) =>
    `${whole} e ${cents}${/^reais$/.test(currency) ? (cents === 'um' ? ' centavo' : ' centavos') : ''}`,
  ofScale: (currency) => `de ${currency}`,
  agree,
  ordinalMark: '\\.?[ºª°](?! ?[CF]\\b)|[oa](?= \\p{Ll})',
  ordinal: (value, mark) => ordinal(value, /[ªa]/.test(mark)),
  roman(value, { before, match }) {
    if (/séculos? $/i.test(before)) return cardinal(value)
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^[CDMLX]$/.test(match[0])) return undefined
    return value < 11 ? ordinals[value] : cardinal(value)
  },
  more: {
    digits: [
      rule('(\\d{1,2}) ?h(?![\\p{L}\\p{N}])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, '')),
    ],
  },
}

/** Hours are feminine. */
function feminine(words: string): string {
  return words.replace(/\bum$/, 'uma').replace(/\bdois$/, 'duas')
}

export const portuguese = rulesOf(habits)
