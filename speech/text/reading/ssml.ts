import { readData } from '../../shared/data.ts'
import { phonesOf } from './phones.ts'

/** A part of a text between two tags of SSML. */
export interface SsmlPart {
  readonly text: string
  /** Silence behind it in seconds, where a `break` says so. */
  readonly pause?: number | undefined
  /** How fast it is spoken: 1 is usual. */
  readonly rate?: number | undefined
  /** Sounds of words in it, by the word in small letters. */
  readonly phones?: Readonly<Record<string, string>> | undefined
}

export interface Ssml {
  readonly parts: readonly SsmlPart[]
  /** Tags that were left out, and how often. */
  readonly leftOut: ReadonlyMap<string, number>
}

/** Longer silences, in one place and in a whole text, are cut: seconds. */
const longestPause = 10
const longestSilence = 120
/** `prosody` elements inside each other; more change nothing. */
const deepest = 16

const ssmlTag = /<(?:speak|break|say-as|phoneme|prosody)[\s/>]|<sub\s+alias\s*=/i
const tag =
  /<!(?:DOCTYPE|\[CDATA\[)[^<>]{0,1000}>?|\]\]>|<\?[^<>]{0,1000}\?>|<(\/?)([a-z][a-z0-9:-]{0,40})((?:\s[^<>]{0,1000})?)\/?>/giu

const { rates, strengths, plain } = readData<{
  readonly rates: Readonly<Record<string, number>>
  readonly strengths: Readonly<Record<string, number>>
  /** Elements that need nothing done, or that HTML has as well. */
  readonly plain: readonly string[]
}>('text/reading/ssml.json')

/**
 * Takes SSML out of a text: `break` becomes a silence, `sub` its alias, `say-as` letters or digits one by one, `phoneme` the sounds of its
 * word, `prosody rate` a speed; other tags go and are counted. Undefined for a text without SSML. No entity is expanded; time is linear.
 */
export function readSsml(text: string): Ssml | undefined {
  if (!ssmlTag.test(text)) return undefined
  const parts: SsmlPart[] = []
  const leftOut = new Map<string, number>()
  const speeds: (number | undefined)[] = []
  let piece = ''
  let phones: Record<string, string> = {}
  let silence = 0
  let from = 0
  /** The element whose text is kept until its end: what becomes of it. */
  let open: { readonly name: string; readonly at: number; read(content: string): string } | undefined

  const close = (pause?: number) => {
    const rate = speeds.reduce<number>((product, speed) => product * (speed ?? 1), 1)
    if (piece.trim() !== '' || pause !== undefined)
      parts.push({
        text: piece,
        ...(pause !== undefined && { pause }),
        ...(rate !== 1 && { rate: bounded(rate, 0.25, 4) }),
        ...(Object.keys(phones).length > 0 && { phones }),
      })
    piece = ''
    phones = {}
  }
  const leaveOut = (name: string) => leftOut.set(name, (leftOut.get(name) ?? 0) + 1)

  for (const found of text.matchAll(tag)) {
    const [whole, slash, written = '', attributes = ''] = found
    const name = written.toLowerCase()
    piece += text.slice(from, found.index)
    from = found.index + whole.length
    const isEnd = slash === '/'
    if (open && (!isEnd || name !== open.name)) continue
    if (open) {
      piece = piece.slice(0, open.at) + open.read(piece.slice(open.at))
      open = undefined
    } else if (name === 'break') {
      const seconds = Math.min(pauseOf(attributes), longestSilence - silence)
      silence += seconds
      if (!isEnd) close(seconds)
    } else if (name === 'prosody') {
      const rate = rateOf(attribute(attributes, 'rate'))
      if (!isEnd && rate === undefined) leaveOut(name)
      close()
      if (isEnd) speeds.pop()
      else if (speeds.length < deepest) speeds.push(rate)
    } else if (!isEnd && !attributes.endsWith('/') && opens(name, attributes)) {
      open = { name, at: piece.length, read: (content) => replacement(name, attributes, content) }
    } else if (plain.includes(name)) piece += whole
    else if (!isEnd && name !== '') leaveOut(name)
  }
  piece += text.slice(from)
  close()
  return { parts, leftOut }

  function replacement(name: string, attributes: string, content: string): string {
    if (name === 'sub') return attribute(attributes, 'alias')
    if (name === 'say-as') return sayAs(attribute(attributes, 'interpret-as'), content)
    const sounds = phonesOf(attribute(attributes, 'ph'))
    if (sounds && /^\s*\p{L}+\s*$/u.test(content)) phones[content.trim().toLowerCase()] = sounds
    else leaveOut(name)
    return content
  }
}

function opens(name: string, attributes: string): boolean {
  return name === 'say-as' || name === 'phoneme' || (name === 'sub' && attribute(attributes, 'alias') !== '')
}

function attribute(attributes: string, name: string): string {
  const [, double, single] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(attributes) ?? []
  return double ?? single ?? ''
}

/** Seconds of a `break`, by its time or its strength. */
function pauseOf(attributes: string): number {
  const [, value, unit] = /^\s*(\d{1,6}(?:\.\d{1,6})?)(ms|s)\s*$/i.exec(attribute(attributes, 'time')) ?? []
  if (value) return Math.min(longestPause, Number(value) / (unit!.toLowerCase() === 'ms' ? 1000 : 1))
  return strengths[attribute(attributes, 'strength').toLowerCase()] ?? strengths['medium']!
}

/** `fast`, `120%`, `+20%`, `1.2`; undefined for no rate. */
function rateOf(text: string): number | undefined {
  const named = rates[text.trim().toLowerCase()]
  if (named) return named
  const [, sign, value, percent] = /^\s*([+-]?)(\d{1,4}(?:\.\d{1,4})?)(%?)\s*$/.exec(text) ?? []
  if (!value) return undefined
  const number = percent ? Number(value) / 100 : Number(value)
  return bounded(sign === '+' ? 1 + number : sign === '-' ? 1 - number : number, 0.25, 4)
}

function bounded(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

/** Letters and digits one by one; an ordinal gets its ending; dates and amounts are read as they are anyway. */
function sayAs(kind: string, content: string): string {
  const text = content.trim()
  if (/^(?:characters|spell-out|verbatim|letters)$/i.test(kind))
    return [...text.replace(/\s+/g, '').toUpperCase()].join(' ')
  if (/^(?:digits|telephone|number:digits)$/i.test(kind))
    return text
      .replace(/\D+/g, ' ')
      .trim()
      .replace(/(?<=\d)(?=\d)/g, ' ')
  if (/^ordinal$/i.test(kind) && /^\d{1,9}$/.test(text)) return ordinalOf(text)
  if (/^(?:expletive|bleep)$/i.test(kind)) return 'beep'
  return content
}

function ordinalOf(text: string): string {
  const isTeen = /1\d$/.test(text)
  return `${text}${isTeen ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[text.at(-1)!] ?? 'th')}`
}
