import { AppError } from '../../errors.ts'

/** Bounds on a JSON text, checked before it is parsed. */
export interface JsonBounds {
  /** Levels of nesting. */
  readonly depth: number
  /** Values of every kind, each element, field, list and object being one. */
  readonly values: number
  /** Fields of one object. */
  readonly names: number
  /** Escapes in strings, such as `\n`. */
  readonly escapes: number
  readonly nameBytes: number
  /** Bytes of all names of fields. */
  readonly allNames: number
  /** Bytes outside of strings: brackets, numbers, white space. */
  readonly outside: number
}

/**
 * The bounds of a request body. Measured on one core of a 2-core AMD EPYC with Node 20: 50,000 values with names that are
 * all different cost JSON.parse 40 ms, and each later copy of one object with 5,000 fields 4 ms; a million values cost
 * seconds. A chat of 1,000 messages with 100 tools has some 20,000 values. 2 Mi escapes cost JSON.parse 20 ms. A name of
 * 32 MiB costs it 270 ms, 480 names of 64 KiB 45 ms, a number of as many digits 140 ms, as much white space 90 ms; 50,000 values on lines of their own,
 * indented by ten levels, have 2 MiB outside of strings.
 */
export const requestBounds: JsonBounds = {
  depth: 64,
  values: 50_000,
  names: 5_000,
  escapes: 2 * 1024 * 1024,
  nameBytes: 64 * 1024,
  allNames: 4 * 1024 * 1024,
  outside: 4 * 1024 * 1024,
}

/** Bytes from which a text of a large body is read apart; 50,000 shorter ones take JSON.parse 1.7 ms a MiB. */
export const longText = 256

/** Where a long text is in the JSON, without its quotation marks: bytes from the beginning. */
export interface LongText {
  readonly start: number
  readonly end: number
  readonly hasEscapes: boolean
}

/** Reads a JSON text as its bytes arrive, in pieces of any size, and counts its values without parsing it. */
export type JsonMeter = ReturnType<typeof createJsonMeter>

const quoteMark = 0x22
const backslash = 0x5c

/** `name` is the text's name in a message. A bound that is not given does not apply. */
export function createJsonMeter(name: string, bounds: Partial<JsonBounds>) {
  const {
    depth: deepest = Number.POSITIVE_INFINITY,
    values: mostValues = Number.POSITIVE_INFINITY,
    names: mostNames = Number.POSITIVE_INFINITY,
    escapes: mostEscapes = Number.POSITIVE_INFINITY,
    nameBytes: longestName = Number.POSITIVE_INFINITY,
    allNames: mostNameBytes = Number.POSITIVE_INFINITY,
    outside: mostOutside = Number.POSITIVE_INFINITY,
  } = bounds
  let depth = 0
  let values = 1
  let escapes = 0
  let outside = 0
  let inString = false
  /** The next string, and the one that is being read, is the name of a field. */
  let namesNext = false
  let inName = false
  let nameBytes = 0
  let allNames = 0
  /** Bytes of the pieces before this one, and of everything before the string. */
  let before = 0
  let start = 0
  let escapesBefore = 0
  const long: LongText[] = []
  /** The last byte was a backslash that belongs to the next one. */
  let isEscaped = false
  /** The fields so far of every object that is open; -1 for a list. */
  const open: number[] = []

  return {
    /** Throws `too_large`, or `invalid` for too deep a nesting, as soon as a bound is passed. */
    push(view: Uint8Array) {
      const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength)
      // The next backslash from here on: looked for once, not once for each string before it.
      let slash = bytes.indexOf(backslash)
      let at = 0
      while (at < bytes.length) {
        if (!inString) {
          read(bytes[at++]!)
          if (inString) start = before + at
        } else {
          const end = endOfString(at)
          if (inName) nameBytes += end - at
          // The quotation mark at its end is counted too.
          if (nameBytes > longestName + 1) throw tooMany(`the name of a field of more than ${longestName} bytes`)
          if (!inString) closed(before + end - 1)
          at = end
        }
      }
      before += bytes.length

      /** Hops to the end of the string, or of the piece. Returns where to go on. */
      function endOfString(start: number): number {
        let next = start
        if (isEscaped) {
          isEscaped = false
          next++
        }
        let quote = bytes.indexOf(quoteMark, next)
        if (slash >= 0 && slash < next) slash = bytes.indexOf(backslash, next)
        while (slash >= 0 && (quote < 0 || slash < quote)) {
          if (++escapes > mostEscapes) throw tooMany(`more than ${mostEscapes} escapes in its texts`)
          next = slash + 2
          if (next > bytes.length) {
            isEscaped = true
            return bytes.length
          }
          if (quote >= 0 && quote < next) quote = bytes.indexOf(quoteMark, next)
          slash = bytes.indexOf(backslash, next)
        }
        if (quote < 0) return bytes.length
        inString = false
        return quote + 1
      }
    },
    /** The texts of `longText` and more so far, without names of fields; the last may be unfinished. */
    longTexts(): readonly LongText[] {
      if (inString && !inName) note(before)
      return long
    },
  }

  function closed(end: number): void {
    if (!inName) return note(end)
    allNames += end - start
    if (allNames > mostNameBytes) throw tooMany(`names of fields of more than ${mostNameBytes} bytes`)
  }

  function note(end: number): void {
    if (end - start >= longText) long.push({ start, end, hasEscapes: escapes > escapesBefore })
  }

  function read(byte: number): void {
    if (++outside > mostOutside) throw tooMany(`more than ${mostOutside} bytes outside of its texts`)
    switch (byte) {
      case quoteMark:
        inString = true
        inName = namesNext
        namesNext = false
        nameBytes = 0
        escapesBefore = escapes
        return
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > deepest)
          throw new AppError('invalid', `${capital(name)} is nested more than ${deepest} levels deep`)
        open.push(byte === 0x7b ? 1 : -1)
        namesNext = byte === 0x7b
        return count()
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        open.pop()
        return
      case 0x2c: // ,
        namesNext = (open.at(-1) ?? -1) > 0
        if (namesNext && ++open[open.length - 1]! > mostNames)
          throw tooMany(`an object with more than ${mostNames} fields`)
        return count()
    }
  }

  function count(): void {
    if (++values > mostValues) throw tooMany(`more than ${mostValues} values`)
  }

  function tooMany(many: string): AppError {
    return new AppError('too_large', `${capital(name)} holds ${many}`)
  }
}

/** Begins a sentence with words of ours; the name of a file stays as it is. */
export function capital(text: string): string {
  return text.startsWith('the ') ? `T${text.slice(1)}` : text
}
