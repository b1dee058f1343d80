import { vocabulary } from './english-words.ts'
import { digitWords, groupsOf, longestNumber } from './numbers.ts'

const { small, tens } = vocabulary
const powers = ['', ' thousand', ' million', ' billion', ' trillion']
const irregular: Readonly<Record<string, string>> = {
  ...{ one: 'first', two: 'second', three: 'third', five: 'fifth', eight: 'eighth', nine: 'ninth', twelve: 'twelfth' },
}

/** The words of a whole number below 10^15. */
export function cardinal(value: number): string {
  if (value < 20) return small[value]!
  if (value < 100) return tens[Math.floor(value / 10)]! + (value % 10 > 0 ? `-${small[value % 10]}` : '')
  if (value < 1000)
    return `${small[Math.floor(value / 100)]} hundred${value % 100 > 0 ? ` ${cardinal(value % 100)}` : ''}`
  return groupsOf(value)
    .map(([count, power]) => cardinal(count) + powers[power]!)
    .join(' ')
}

/** `twenty-first` for 21. */
export function ordinal(value: number): string {
  return cardinal(value).replace(
    /[a-z]{1,12}$/,
    (last) => irregular[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`),
  )
}

/** `nineteen oh five`, `two thousand seven`, `twenty twenty-four`. */
export function year(value: number): string {
  const [century, rest] = [Math.floor(value / 100), value % 100]
  if (value < 1010 || value > 2999 || (century % 10 === 0 && rest < 10)) return cardinal(value)
  return `${cardinal(century)} ${rest === 0 ? 'hundred' : rest < 10 ? `oh ${cardinal(rest)}` : cardinal(rest)}`
}

export const digits = (text: string): string => digitWords(text.replace(/\D/g, ''), cardinal)

/** Without the marks between thousands, and with a point before decimals: `1234.5` for `1,234.5` and `1.234,50`. */
export function plainAmount(text: string): string {
  const plain = /\.\d{3},\d\d$/.test(text) ? text.replaceAll('.', '').replace(',', '.') : text
  return plain.replace(/(?<=\d)[, \u00a0\u202f](?=\d{3})/g, '')
}

/** Any way of writing an amount: `1,234.5`, `007`, `.75`, `1 000`, `12345678901`. */
export function amount(text: string): string {
  const [whole = '', part] = plainAmount(text).split(/[.,]/)
  const isCode = /^0\d/.test(whole) || whole.length > Math.min(10, longestNumber)
  const words = whole === '' ? '' : isCode && !/[, ]/.test(text) ? digits(whole) : cardinal(Number(whole))
  return part === undefined ? words : `${words} point ${digits(part)}`.trim()
}

/** `seventeen ninety-nine` for four digits that a year may be, otherwise the amount. */
export function yearOrAmount(text: string): string {
  return /^(?:1[1-9]|20)\d\d$|^10[1-9]\d$/.test(text) ? year(Number(text)) : amount(text)
}

const parts: Readonly<Record<number, string>> = { 2: 'half', 4: 'quarter' }

/** `three quarters`; behind a whole number `and a half`. */
export function fraction(over: number, under: number, isBehindWhole = false): string {
  const part = parts[under] ?? ordinal(under)
  const many = part === 'half' ? 'halves' : `${part}s`
  return isBehindWhole && over === 1 && under === 2 ? 'a half' : `${cardinal(over)} ${over === 1 ? part : many}`
}
