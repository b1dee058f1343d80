import { closeSync, openSync, readSync } from 'node:fs'
import { damaged } from '../file-error.ts'
import { readSpan, type Span } from '../file-span.ts'
import { parseStrictJsonBytes } from './canonical.ts'

/** Bytes that are read at once: large enough that system calls do not count, small enough that memory does not. */
const chunkSize = 1024 ** 2

/** A package has five parts, and as many more as other programs put next to them. */
const mostMembers = 1000

/** The object that a whole file is, as the spans of its values by key. Throws when it is no object or a key is there twice. */
export function memberSpans(file: number, size: number): ReadonlyMap<string, Span> {
  const inside = insideOf(file, { start: markOf(file, size), end: size }, '{}', 'The package')
  const members = new Map<string, Span>()
  for (const span of splitSpans(file, inside)) {
    const { key, value } = readMember(file, span)
    if (members.size >= mostMembers) throw damaged(`The package has more than ${mostMembers} parts`)
    if (members.has(key)) throw damaged(`The package holds the key ${JSON.stringify(key)} twice`)
    if (key === '__proto__') throw damaged('The package holds the forbidden key __proto__')
    members.set(key, value)
  }
  return members
}

/** The bytes of a byte order mark in UTF-8, which editors on Windows write before JSON: 3, or 0 without one. */
function markOf(file: number, size: number): number {
  return size > 3 && readSpan(file, { start: 0, end: 3 }, 3, 'The mark').toString('latin1') === '\xef\xbb\xbf' ? 3 : 0
}

/** The spans of the items of an array, in order. */
export function* itemSpans(file: number, array: Span, name: string): Generator<Span> {
  yield* splitSpans(file, insideOf(file, array, '[]', name))
}

/** How far a text was read: the open brackets, and whether its end is inside a string. */
interface Reading {
  depth: number
  inString: boolean
  escaped: boolean
}

/**
 * The places in a piece of a text where an item ends: at a comma between items, or at the bracket that closes them all, which is
 * the last one. Looks at brackets and strings only; parsing the items checks them. `reading` continues in the next piece.
 */
function* endsIn(piece: Buffer, reading: Reading, from = 0): Generator<number> {
  let { depth, inString, escaped } = reading
  for (let at = from; at < piece.length; at++) {
    const byte = piece[at]!
    if (inString) {
      if (escaped) escaped = false
      else if (byte === 0x5c) escaped = true
      else if (byte === 0x22) inString = false
      continue
    }
    const kind = kinds[byte]!
    if (kind === plain) continue
    if (kind === quote) inString = true
    else if (kind === opening) depth++
    else if (kind === closing) {
      if (--depth < 0) return yield at
    } else if (depth === 0) yield at
  }
  Object.assign(reading, { depth, inString, escaped })
}

/** Splits the text between two brackets at its commas: one pass in flat memory, for texts too long for one string. */
function* splitSpans(file: number, inside: Span): Generator<Span> {
  const buffer = Buffer.allocUnsafe(Math.min(chunkSize, Math.max(1, inside.end - inside.start)))
  const reading: Reading = { depth: 0, inString: false, escaped: false }
  let start = inside.start
  for (let base = inside.start; base < inside.end; ) {
    const length = readSync(file, buffer, 0, Math.min(buffer.length, inside.end - base), base)
    if (length === 0) throw damaged('The file became shorter while it was read')
    for (const at of endsIn(buffer.subarray(0, length), reading)) {
      if (kinds[buffer[at]!] === closing) throw damaged('The JSON has a bracket too many')
      yield { start, end: base + at }
      start = base + at + 1
    }
    base += length
  }
  if (reading.depth !== 0 || reading.inString) throw damaged('The JSON breaks off')
  // `[]` holds nothing, `[1,]` holds an empty second item, which its reader refuses.
  if (start !== inside.start || !isBlank(file, { start, end: inside.end })) yield { start, end: inside.end }
}

/** The meaning of a byte outside of a string; a table, since most bytes are digits and mean nothing. */
const [plain, quote, opening, closing, comma] = [0, 1, 2, 3, 4]
const kinds: Uint8Array = new Uint8Array(256)
for (const [kind, characters] of [
  [quote, '"'],
  [opening, '{['],
  [closing, '}]'],
  [comma, ','],
] as const)
  for (const character of characters) kinds[character.charCodeAt(0)] = kind

/** The span between the two brackets of a value. */
function insideOf(file: number, span: Span, brackets: '{}' | '[]', name: string): Span {
  const { start, end } = trimmed(file, span)
  const [first, last] = [byteAt(file, start), byteAt(file, end - 1)]
  if (end - start < 2 || first !== brackets.charCodeAt(0) || last !== brackets.charCodeAt(1))
    throw damaged(`${name} is not a whole JSON ${brackets === '{}' ? 'object' : 'array'}`)
  return { start: start + 1, end: end - 1 }
}

/** Keys of a package are short; a longer one has no place in it. */
const longestKey = 1024

function readMember(file: number, span: Span): { readonly key: string; readonly value: Span } {
  const { start, end } = trimmed(file, span)
  const bytes = readSpan(file, { start, end: Math.min(end, start + longestKey) }, longestKey, 'A key')
  const match = /^"(?:[^"\\]|\\.)*"/s.exec(bytes.toString('latin1'))
  const colon = match ? /^\s*:/.exec(bytes.toString('latin1').slice(match[0].length)) : null
  if (!match || !colon) throw damaged('The package is not JSON: a key is missing or too long')
  const key = parseStrictJsonBytes(bytes.subarray(0, match[0].length))
  return { key: String(key), value: { start: start + match[0].length + colon[0].length, end } }
}

/** Bytes that are looked at first when white space is passed over, and at most: there is little of it, or a great deal. */
const [firstLook, longestLook] = [64, 64 * 1024]

function trimmed(file: number, { start, end }: Span): Span {
  for (let look = firstLook; start < end; look = longestLook) {
    const bytes = bytesBetween(file, start, Math.min(end, start + look))
    const at = bytes.findIndex((byte) => !isSpace(byte))
    start += at < 0 ? bytes.length : at
    if (at >= 0) break
  }
  for (let look = firstLook; start < end; look = longestLook) {
    const bytes = bytesBetween(file, Math.max(start, end - look), end)
    const at = bytes.findLastIndex((byte) => !isSpace(byte))
    end -= bytes.length - 1 - at
    if (at >= 0) break
  }
  return { start, end }
}

function bytesBetween(file: number, start: number, end: number): Buffer {
  return readSpan(file, { start, end }, longestLook, 'White space')
}

function isBlank(file: number, span: Span): boolean {
  const rest = trimmed(file, span)
  return rest.start === rest.end
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

const single = Buffer.alloc(1)

function byteAt(file: number, position: number): number | undefined {
  return readSync(file, single, 0, 1, position) === 1 ? single[0] : undefined
}

/**
 * The items of a JSON array that arrives in chunks, as bytes and one at a time: a text of gigabytes is held in no memory.
 * Looks at brackets and strings only; parsing an item checks it. Undefined stands for an item longer than `most` bytes.
 * Throws a FileError when the text is no array, breaks off, or continues after its end.
 */
export function* jsonItems(chunks: Iterable<Uint8Array>, most: number): Generator<Buffer | undefined> {
  let hasBegun = false
  let hasEnded = false
  const reading: Reading = { depth: 0, inString: false, escaped: false }
  let hasComma = false
  const { take, taken } = collector(most)
  let position = 0
  for (const chunk of chunks) {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    while (!hasBegun && start < piece.length) {
      const byte = piece[start++]
      if (isSpace(byte) || byte === mark[position++]) continue
      if (byte !== 0x5b) throw damaged('The JSON is no list')
      hasBegun = true
    }
    if (hasBegun && !hasEnded) {
      for (const end of endsIn(piece, reading, start)) {
        const isLast = kinds[piece[end]!] === closing
        if (isLast && piece[end] !== 0x5d) throw damaged('The JSON has a bracket too many')
        take(piece.subarray(start, end))
        start = end + 1
        const item = taken()
        if (!isLast || hasComma || item === undefined || !item.every(isSpace)) yield item
        if (isLast) hasEnded = true
        hasComma = true
      }
      if (!hasEnded) take(piece.subarray(start))
    }
    if (hasEnded && !piece.subarray(start).every(isSpace)) throw damaged('The JSON goes on after its end')
  }
  if (!hasEnded) throw damaged('The JSON breaks off')
}

/** The bytes of a file in chunks; each is valid until the next one is asked for. */
export function* fileChunks(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(chunkSize)
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) yield buffer.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

/** Collects up to `most` bytes from pieces; of more it counts the length alone. */
function collector(most: number) {
  let pieces: Uint8Array[] = []
  let length = 0
  return {
    take(bytes: Uint8Array) {
      length += bytes.length
      // A copy: the reader of the chunk may write over it.
      if (length <= most) pieces.push(Uint8Array.from(bytes))
      else pieces = []
    },
    /** The bytes since the last call; undefined when they were too many. */
    taken(): Buffer | undefined {
      const bytes = length <= most ? Buffer.concat(pieces) : undefined
      pieces = []
      length = 0
      return bytes
    },
  }
}

/** A byte order mark in UTF-8, which some programs write before JSON. */
const mark = [0xef, 0xbb, 0xbf]

/** The lines of a text in chunks, one at a time without their ends; undefined for one longer than `most` bytes. */
export function* textLines(chunks: Iterable<Uint8Array>, most: number): Generator<Buffer | undefined> {
  const { take, taken } = collector(most)
  let hasMore = false
  for (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0x0a, start); end >= 0; end = chunk.indexOf(0x0a, start)) {
      take(chunk.subarray(start, end))
      yield taken()
      start = end + 1
    }
    take(chunk.subarray(start))
    hasMore = start < chunk.length || (hasMore && start === 0)
  }
  if (hasMore) yield taken()
}
