import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<LanguageData>('text/reading/french.json')
const { small, tens } = data

function underHundred(value: number): string {
  if (value < 20) return small[value]!
  if (value === 80) return 'quatre-vingts'
  const ten = Math.floor(value / 10)
  const rest = ten === 7 || ten === 9 ? 10 + (value % 10) : value % 10
  if (rest === 0) return tens[ten]!
  return `${tens[ten]}${(rest === 1 || rest === 11) && ten < 8 ? ' et ' : '-'}${small[rest]}`
}

function underThousand(value: number, isLast: boolean): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  if (hundreds === 0) return isLast ? underHundred(rest) : underHundred(rest).replace('vingts', 'vingt')
  const front = `${hundreds > 1 ? `${small[hundreds]} ` : ''}cent${hundreds > 1 && rest === 0 && isLast ? 's' : ''}`
  return rest === 0 ? front : `${front} ${underHundred(rest)}`
}

function cardinal(value: number): string {
  if (value === 0) return 'zéro'
  return groupsOf(value)
    .map(([count, power]) => {
      if (power < 2)
        return power === 0 ? underThousand(count, true) : `${count === 1 ? '' : `${underThousand(count, false)} `}mille`
      return `${underThousand(count, true)} ${['million', 'milliard', 'billion'][power - 2]}${count > 1 ? 's' : ''}`
    })
    .join(' ')
}

function ordinal(value: number): string {
  if (value === 1) return 'premier'
  return `${cardinal(value)
    .replace(/s$/, (s) => (value % 100 === 80 ? '' : s))
    .replace(/cinq$/, 'cinqu')
    .replace(/neuf$/, 'neuv')
    .replace(/e$/, '')}ième`
}

const feminine = (words: string) => words.replace(/\bun$/, 'une')

const habits: Habits = {
  ...data,
  cardinal,
  date: (day, month, year) => `${day === 1 ? 'premier' : cardinal(day)} ${month}${year ? ` ${year}` : ''}`,
  year: cardinal,
  clock: ' ?h ?|:',
  clockEnd: '(?: ?h)?',
  time: (hour, minute) =>
    `${feminine(cardinal(hour))} heure${hour > 1 ? 's' : ''}${minute ? ` ${cardinal(minute)}` : ''}`,
  cents: (whole, cents) => `${whole} ${cents}`,
  ofScale: (currency) => (/^[aeiouh]/.test(currency) ? `d'${currency}` : `de ${currency}`),
  ordinalMark: 'er|re|ère|e|ème|nd|nde',
  ordinal: (value, mark) =>
    value === 1
      ? /^(?:re|ère)$/.test(mark)
        ? 'première'
        : 'premier'
      : /^n/.test(mark)
        ? `second${mark === 'nde' ? 'e' : ''}`
        : ordinal(value),
  roman(value, { before, after }) {
    if (!/\p{Lu}\p{Ll}{2,} $/u.test(before) || value > 30 || /^\p{L}/u.test(after)) return undefined
    return value === 1 ? 'premier' : cardinal(value)
  },
  more: {
    digits: [
      rule('(\\d{1,2}) ?h(?![\\p{L}\\p{N}/])', ({ match: [, hour] }) => habits.time(Number(hour), undefined, '')),
    ],
  },
}

export const french = rulesOf(habits)
