import { isAscii } from 'node:buffer'
import { type HeavyWork, heavyTurn } from '../../process/process.ts'
import { bytesAtOnce } from '../join-bytes.ts'
import { notJson, parseMetered, positionOf, shortText } from './json.ts'
import { type LongText, longText } from './meter.ts'

const backslash = 0x5c

/** Characters that JSON has in texts as escapes only. */
const control = /[\0-\x1f]/

/** Times as long that a text of nothing but escapes takes. */
const escapeWeight = 4

/** A place in a JSON text that is wrong: bytes from its beginning. */
class Fault extends Error {
  readonly at: number

  constructor(at: number, cause?: unknown) {
    super('invalid JSON', { cause })
    this.at = at
  }
}

/**
 * The value that JSON.parse gives, with the refusals of `parseMetered`, in turns of the event loop: of a large body
 * almost everything is in its long texts, and to parse 30 MiB in one go blocks the event loop for a tenth of a second.
 * A turn reads `bytesAtOnce` of the texts; the rest of the body, with short texts in their places, is parsed in
 * another. Only to make one text of more than that whole is a turn as long as the text: a copy, 1 ms per mebibyte.
 *
 * `texts` are those that a meter with the bounds of a request has found in these bytes, which are UTF-8.
 */
export async function parseInTurns(
  bytes: Buffer,
  texts: readonly LongText[],
  name = 'the body',
  work?: HeavyWork,
): Promise<unknown> {
  const values: string[] = []
  let fault: Fault | undefined
  let skeleton = ''
  let at = 0
  let left = 0
  for (const text of texts) {
    const weight = text.start - at + weightOf(text)
    if (weight > left) {
      await heavyTurn(work)
      left = bytesAtOnce
    }
    left -= weight
    skeleton += decode(bytes, at, text.start) + placeholder(values.length)
    at = text.end
    try {
      values.push(weightOf(text) > bytesAtOnce ? await readLong(bytes, text, work) : readText(bytes, text))
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason
      // Goes on, since a fault outside of the texts may stand before it.
      fault ??= reason
      values.push('')
    }
  }
  await heavyTurn(work)
  skeleton += decode(bytes, at, bytes.length)
  const value = parseMetered(skeleton, name, (position) => {
    const byte = position === undefined ? undefined : byteAt(position)
    if (fault && !(byte !== undefined && byte < fault.at)) return placeOf(fault.at)
    return byte === undefined ? undefined : placeOf(byte)
  })
  if (fault) throw notJson(name, placeOf(fault.at), fault.cause)
  if (values.length === 0) return value
  await heavyTurn(work)
  return putBack(value, values)

  /** The byte of the body at a position of the skeleton. */
  function byteAt(position: number): number {
    let byte = Buffer.byteLength(skeleton.slice(0, position))
    for (const { start, end } of texts) {
      if (byte < start + longText) break
      byte += end - start - longText
    }
    return byte
  }

  function placeOf(byte: number): string {
    if (byte > shortText) return `the fault is at byte ${byte + 1}`
    const lines = decode(bytes, 0, byte).split('\n')
    return `the fault is at line ${lines.length}, column ${lines.at(-1)!.length + 1}`
  }
}

/** Stands for a long text; its length distinguishes it: texts that are left in place are shorter. */
function placeholder(index: number): string {
  return String(index).padStart(longText, '0')
}

/** The value with the long texts in their places. */
function putBack(value: unknown, texts: readonly string[]): unknown {
  if (typeof value === 'string') return value.length === longText ? texts[Number(value)] : value
  if (typeof value !== 'object' || value === null) return value
  // An own `__proto__`, which an assignment would not replace, has been refused.
  const fields = value as Record<string, unknown>
  for (const name in fields) {
    const field = fields[name]
    if (typeof field === 'string' ? field.length === longText : typeof field === 'object')
      fields[name] = putBack(field, texts)
  }
  return value
}

/** Bytes of a text without escapes that are read in the same time. */
function weightOf({ start, end, hasEscapes }: LongText): number {
  return (end - start) * (hasEscapes ? escapeWeight : 1)
}

/** A text that is decoded in one go. Throws a Fault. */
function readText(bytes: Buffer, { start, end, hasEscapes }: LongText): string {
  const text = decode(bytes, start, end)
  if (!hasEscapes && !control.test(text)) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch (reason) {
    const position = positionOf(reason) ?? 1
    throw new Fault(start + Buffer.byteLength(text.slice(0, position - 1)), reason)
  }
}

/** A text that weighs more than `bytesAtOnce`. Throws a Fault, or as `heavyTurn`. */
async function readLong(bytes: Buffer, { start, end, hasEscapes }: LongText, work?: HeavyWork): Promise<string> {
  const pieces: string[] = []
  let areAscii = true
  const most = bytesAtOnce / (hasEscapes ? escapeWeight : 1)
  for (let at = start; at < end; ) {
    await heavyTurn(work)
    const next = end - at > most ? pieceEnd(bytes, at, at + most) : end
    const piece = { start: at, end: next, hasEscapes }
    areAscii &&= isAscii(bytes.subarray(at, next))
    pieces.push(readText(bytes, piece))
    at = next
  }
  await heavyTurn(work)
  // Outside of V8's heap, where its garbage collector has nothing to do with it.
  return areAscii && !hasEscapes ? bytes.toString('latin1', start, end) : pieces.join('')
}

/** Where a text may be cut at or before `end`: at the beginning of a character or of an escape, and after `start`, which is one. */
function pieceEnd(bytes: Buffer, start: number, end: number): number {
  let at = end
  while ((bytes[at]! & 0xc0) === 0x80) at--
  // An escape has six bytes at the most: `\u0041`.
  const slash = bytes.subarray(at - 5, at).lastIndexOf(backslash)
  if (slash < 0) return at
  let run = at - 5 + slash
  const last = run
  while (run > start && bytes[run - 1] === backslash) run--
  if (run > start) return run
  // Backslashes from the beginning on: each two are an escape.
  return last - ((last - start) % 2)
}

function decode(bytes: Buffer, start: number, end: number): string {
  return isAscii(bytes.subarray(start, end)) ? bytes.toString('latin1', start, end) : bytes.toString('utf8', start, end)
}
