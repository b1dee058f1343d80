import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<LanguageData>('text/reading/dutch.json')
const { small, tens } = data

function underThousand(value: number): string {
  if (value >= 100) {
    const [front, rest] = [Math.floor(value / 100), value % 100]
    return `${front > 1 ? small[front] : ''}honderd${rest > 0 ? underThousand(rest) : ''}`
  }
  if (value < 20) return small[value]!
  const [ten, one] = [tens[Math.floor(value / 10)]!, value % 10]
  return one === 0 ? ten : `${small[one]}${/e$/.test(small[one]!) ? 'ën' : 'en'}${ten}`
}

/** A blank stands behind `duizend`. */
function cardinal(value: number): string {
  if (value === 0) return 'nul'
  return groupsOf(value)
    .map(([count, power]) => {
      if (power < 2) return power === 0 ? underThousand(count) : `${count === 1 ? '' : underThousand(count)}duizend`
      return `${underThousand(count)} ${['miljoen', 'miljard', 'biljoen'][power - 2]}`
    })
    .join(' ')
}

function year(value: number): string {
  const rest = value % 100
  if (value < 1100 || value > 1999) return cardinal(value)
  return `${underThousand(Math.floor(value / 100))}honderd${rest > 0 ? underThousand(rest) : ''}`
}

function ordinal(value: number): string {
  const irregular: Readonly<Record<string, string>> = { een: 'eerste', drie: 'derde', acht: 'achtste' }
  const words = cardinal(value)
  const rest = value % 100
  if (rest > 0 && rest < 20) {
    const last = small[rest]!
    return words.slice(0, words.length - last.length) + (irregular[last] ?? `${last}de`)
  }
  return `${words}ste`
}

const habits: Habits = {
  ...data,
  cardinal,
  date: (day, month, yearWords) => `${cardinal(day)} ${month}${yearWords ? ` ${yearWords}` : ''}`,
  year,
  clock: ':|\\.(?=\\d\\d ?(?:u|tot))|u(?=\\d\\d)',
  clockEnd: '(?: ?uur| ?u\\b)?',
  time: (hour, minute, end) =>
    minute || /uu?r?/.test(end)
      ? `${cardinal(hour)} uur${minute ? ` ${cardinal(minute)}` : ''}`
      : `${cardinal(hour)} uur`,
  cents: (whole, cents) => `${whole} ${cents}`,
  ofScale: (currency) => currency,
  ordinalMark: 'e|de|ste',
  ordinal: (value) => ordinal(value),
  roman: (value, { before, match }) =>
    /\p{Lu}\p{Ll}{2,} $/u.test(before) && value < 31 && !/^[ICDMLX]$/.test(match[0])
      ? `de ${ordinal(value)}`
      : undefined,
  more: { letters: [rule('(\\p{Lu}\\p{Ll}{2,30})str\\.', '$1straat')] },
}

export const dutch = rulesOf(habits)
