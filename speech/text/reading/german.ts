import { readData } from '../../shared/data.ts'
import { type Habits, type LanguageData, rulesOf } from './european.ts'
import { groupsOf } from './numbers.ts'
import { rule } from './rules.ts'

const data = readData<LanguageData>('text/reading/german.json')
const { small, tens } = data

/** Below a million a number is one word; `hunderteins`, but `hunderteintausend`. */
function underThousand(value: number, isLast: boolean): string {
  if (value >= 100) {
    const hundreds = Math.floor(value / 100)
    return `${hundreds === 1 ? '' : small[hundreds]}hundert${value % 100 > 0 ? underThousand(value % 100, isLast) : ''}`
  }
  if (value === 1) return isLast ? 'eins' : 'ein'
  if (value < 20) return small[value]!
  const one = value % 10
  return `${one > 0 ? `${one === 1 ? 'ein' : small[one]}und` : ''}${tens[Math.floor(value / 10)]}`
}

function cardinal(value: number): string {
  if (value === 0) return 'null'
  const below = value % 1_000_000
  const thousands = Math.floor(below / 1000)
  const low =
    (thousands > 0 ? `${thousands === 1 ? '' : underThousand(thousands, false)}tausend` : '') +
    (below % 1000 > 0 ? underThousand(below % 1000, true) : '')
  const high = groupsOf(value - below).map(([count, power]) => {
    const name = { 2: 'Million', 3: 'Milliarde', 4: 'Billion' }[power]!
    return count === 1 ? `eine ${name}` : `${underThousand(count, true)} ${name}${name.endsWith('e') ? 'n' : 'en'}`
  })
  return [...high, low].filter(Boolean).join(' ')
}

function year(value: number): string {
  const rest = value % 100
  if (value < 1100 || value > 1999) return cardinal(value)
  return `${cardinal(Math.floor(value / 100))}hundert${rest > 0 ? cardinal(rest) : ''}`
}

/** The stem, to which an ending is added: `dritt`. */
function stem(value: number): string {
  const irregular: Readonly<Record<number, string>> = { 1: 'erst', 3: 'dritt', 7: 'siebt', 8: 'acht' }
  const rest = value % 100
  const front = value > 100 && rest in irregular ? cardinal(value - rest) : ''
  return rest in irregular ? front + irregular[rest] : cardinal(value) + (rest > 0 && rest < 20 ? 't' : 'st')
}

/** The ending that the word before asks for: `am dritten`, `der dritte`, `dritter`. */
function ordinal(value: number, before: string): string {
  const article = /(\p{L}{1,30})[ („"]{1,3}$/u.exec(before)?.[1]?.toLowerCase() ?? ''
  if (/^(?:am|dem|den|vom|zum|zur|im|beim|ab|des|seit|bis|jeden|einen|meinen|seinen|ihren|deren|dessen)$/.test(article))
    return `${stem(value)}en`
  return `${stem(value)}${/^(?:der|die|das|eine|jede|seine|ihre|meine)$/.test(article) ? 'e' : 'er'}`
}

const habits: Habits = {
  ...data,
  cardinal,
  counting: (words) => (words === 'eins' ? 'ein' : words),
  date: (day, month, yearWords, before) => `${ordinal(day, before)} ${month}${yearWords ? ` ${yearWords}` : ''}`,
  year,
  clock: '[:.](?=\\d\\d(?: ?Uhr| ?h\\b))|:',
  clockEnd: '(?: ?Uhr| ?h)?',
  time: (hour, minute) => `${hour === 1 ? 'ein' : cardinal(hour)} Uhr${minute ? ` ${cardinal(minute)}` : ''}`,
  cents: (whole, cents) => `${whole} ${cents}`,
  ofScale: (currency) => currency,
  agree: (words, after) =>
    /^ \p{Lu}/u.test(after)
      ? words.replace(/^eins$/, /^ \p{Lu}\p{Ll}*(?:e|ung|heit|keit|ion|tät)(?!\p{L})/u.test(after) ? 'eine' : 'ein')
      : words,
  ordinalMark: '\\.(?= \\p{L})',
  ordinal(value, _, { before }) {
    return before === '' || value > 999 ? undefined : ordinal(value, before)
  },
  roman(value, { before, after }) {
    if (/^ (?:Jahrhundert|Jh)/.test(after)) return ordinal(value, before)
    return /\p{Lu}\p{Ll}{2,} $/u.test(before) && value > 1 && value < 30
      ? `der ${capital(`${stem(value)}e`)}`
      : undefined
  },
  more: {
    digits: [
      rule(
        '(\\d0|1[1-9]\\d0|20\\d0)er(?!\\p{L})',
        ({ match: [, value = ''] }) => `${value.length === 2 ? cardinal(Number(value)) : year(Number(value))}er`,
      ),
      rule('(\\d\\d?) Uhr', ({ match: [, hour = ''] }) => `${hour === '1' ? 'ein' : cardinal(Number(hour))} Uhr`),
    ],
    letters: [rule('(\\p{Lu}\\p{Ll}{2,30})str\\.', '$1straße'), rule('(\\p{Lu}\\p{Ll}{2,30})nr\\.', '$1nummer')],
  },
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const german = rulesOf(habits)
