import { type HeavyWork, heavyTurn } from '../../process/process.ts'

/** From this weight on a value is written in turns: characters, of which V8 writes some 300,000 in a millisecond. */
export const heavyValue = 1024 * 1024

/** Bytes that are written in one turn of the event loop: some five milliseconds' work, ten of text beyond ASCII. */
export const writtenAtOnce = 1024 * 1024

/** Characters of a text that are escaped by one call. */
const sliceLength = 256 * 1024

/** A value of less than this is left to JSON.stringify: characters. */
const lightValue = 64 * 1024

/** The weight of a number, a name's quotes or a bracket: characters. */
const perValue = 8

/** About how many characters a value has as JSON, counted to `most`; costs time by the number of its values. */
export function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + perValue
  if (typeof value !== 'object' || value === null) return perValue
  let weight = perValue
  if (Array.isArray(value))
    for (const item of value) {
      weight += weightOf(item, most - weight)
      if (weight > most) return weight
    }
  else
    for (const name in value) {
      weight += name.length + weightOf((value as Record<string, unknown>)[name], most - weight)
      if (weight > most) return weight
    }
  return weight
}

/** From this weight on a request costs milliseconds at each step of its way: characters. */
export const heavyRequest = 256 * 1024

/** Has the next step of a large request be a stage of its own; see heavyTurn. A small one continues at once. */
export async function nextStage(value: unknown, work?: HeavyWork): Promise<void> {
  if (weightOf(value, heavyRequest) > heavyRequest) await heavyTurn(work)
}

/**
 * The bytes that `JSON.stringify` gives, written in turns of the event loop of about `writtenAtOnce` each: 30 MiB of text
 * in one go block the event loop for a tenth of a second. Throws `unavailable` once `isOver` returns true.
 */
export async function writeJson(value: unknown, work?: HeavyWork) {
  const pieces: Buffer[] = []
  let length = 0
  let text = ''
  let written = 0
  const flush = () => {
    const bytes = Buffer.from(text)
    pieces.push(bytes)
    length += bytes.length
    written += bytes.length
    text = ''
  }
  await heavyTurn(work)
  for (const piece of piecesOf(value)) {
    text += piece
    if (text.length < sliceLength) continue
    flush()
    if (written < writtenAtOnce) continue
    written = 0
    await heavyTurn(work)
  }
  flush()
  return { pieces, length }
}

/** The text in pieces, none of which is much longer than `sliceLength`. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > sliceLength) return yield* piecesOfText(value)
  const isLarge = typeof value === 'object' && value !== null && weightOf(value, lightValue) > lightValue
  if (!isLarge || 'toJSON' in value) return yield JSON.stringify(value) ?? 'null'
  let mark = Array.isArray(value) ? '[' : '{'
  if (Array.isArray(value))
    for (const item of value) {
      yield mark
      yield* piecesOf(item)
      mark = ','
    }
  else
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined || typeof field === 'function' || typeof field === 'symbol') continue
      yield `${mark}${JSON.stringify(name)}:`
      yield* piecesOf(field)
      mark = ','
    }
  yield `${mark === ',' ? '' : mark}${Array.isArray(value) ? ']' : '}'}`
}

/** Characters that JSON.stringify may escape: base64 has none of them, and to look takes a third of the time. */
const escaped = /["\\\0-\x1f\ud800-\udfff]/

function* piecesOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + sliceLength)
    // The two halves of a character are written together: one alone is escaped.
    if (end < text.length && isFirstHalf(text.charCodeAt(end - 1))) end--
    const slice = text.slice(at, end)
    yield escaped.test(slice) ? JSON.stringify(slice).slice(1, -1) : slice
    at = end
  }
  yield '"'
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
