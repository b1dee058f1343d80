/**
 * SentencePiece unigram models (Kudo 2018, arXiv:1804.10959): reads a `tokenizer.model` and cuts text into the pieces with
 * the highest sum of scores. Ties, unknown characters and byte pieces are treated as the SentencePiece library treats them.
 */
import { AppError } from '../../../src/errors.ts'
import { type ReadField, readMessage } from '../../../src/inference/inference.ts'

export type Tokenizer = ReturnType<typeof readPieces>

/** `ModelProto.SentencePiece.Type` */
const pieceTypes = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const

/** How much worse than the worst piece an unknown character is. */
const unknownPenalty = 10

/** Stands for a space inside the pieces. */
const spaceMark = '▁'

/** Reads a model; throws an AppError that names `source` when it is damaged or of an unsupported kind. */
export function readPieces(bytes: Uint8Array, source: string) {
  const { pieces, trimsSpaces, addsSpace, byteFallback } = parseModel(bytes, source)
  const ids = new Map<string, number>()
  const byteIds = new Map<number, number>()
  let unknown = 0
  let [lowest, highest, longest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1]
  for (const [id, { text, score, type }] of pieces.entries()) {
    if (type === pieceTypes.unknown) unknown = id
    if (type === pieceTypes.byte) byteIds.set(Number.parseInt(text.slice(3, 5), 16), id)
    if (type !== pieceTypes.normal && type !== pieceTypes.userDefined) continue
    ids.set(text, id)
    longest = Math.max(longest, [...text].length)
    if (type !== pieceTypes.normal) continue
    lowest = Math.min(lowest, score)
    highest = Math.max(highest, score)
  }
  return {
    /** How many ids there are. */
    size: pieces.length,
    encode,
    decode,
  }

  function encode(text: string): number[] {
    const normal = normalise(text)
    return normal === '' ? [] : bestPath([...normal]).flatMap(expandUnknown)
  }

  function normalise(text: string): string {
    const spaced = trimsSpaces ? text.replace(/ +/g, ' ').replace(/^ | $/g, '') : text
    if (spaced === '') return ''
    return `${addsSpace ? ' ' : ''}${spaced}`.replace(/\p{Surrogate}/gu, '\uFFFD').replaceAll(' ', spaceMark)
  }

  /** The pieces of the best way through the characters (Viterbi); an unknown character is given as its text. */
  function bestPath(characters: readonly string[]): (number | string)[] {
    const scores = new Float32Array(characters.length + 1).fill(Number.NEGATIVE_INFINITY)
    const best: ({ from: number; id: number | string } | undefined)[] = []
    scores[0] = 0
    for (let from = 0; from < characters.length; from++) {
      let text = ''
      let single = false
      for (let end = from + 1; end <= Math.min(characters.length, from + longest); end++) {
        text += characters[end - 1]
        const id = ids.get(text)
        if (id === undefined) continue
        single ||= end === from + 1
        reach(from, end, id, scoreOf(id, text))
      }
      if (!single) reach(from, from + 1, characters[from]!, lowest - unknownPenalty)
    }
    const path: (number | string)[] = []
    for (let end = characters.length; end > 0; end = best[end]!.from) path.push(best[end]!.id)
    return path.reverse()

    function reach(from: number, end: number, id: number | string, score: number): void {
      const total = Math.fround(scores[from]! + Math.fround(score))
      if (best[end] && total <= scores[end]!) return
      scores[end] = total
      best[end] = { from, id }
    }
  }

  /** A piece that the user defined is always taken where it fits. */
  function scoreOf(id: number, text: string): number {
    const { type, score } = pieces[id]!
    return type === pieceTypes.userDefined ? Buffer.byteLength(text) * highest - 0.1 : score
  }

  function expandUnknown(id: number | string): number[] {
    if (typeof id === 'number') return [id]
    return byteFallback ? [...Buffer.from(id)].map((byte) => byteIds.get(byte) ?? unknown) : [unknown]
  }

  /** The text of pieces; ids that are no text (beginning, end) are left out. */
  function decode(list: readonly number[]): string {
    const parts: Buffer[] = []
    for (const id of list) {
      const { text, type } = pieces[id] ?? { text: '', type: pieceTypes.control }
      if (type === pieceTypes.byte) parts.push(Buffer.of(Number.parseInt(text.slice(3, 5), 16)))
      else if (type === pieceTypes.unknown) parts.push(Buffer.from(' \u2047 '))
      else if (type !== pieceTypes.control) parts.push(Buffer.from(text))
    }
    const text = Buffer.concat(parts).toString('utf8').replaceAll(spaceMark, ' ')
    return addsSpace && text.startsWith(' ') ? text.slice(1) : text
  }
}

/** Field numbers: https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto */
function parseModel(bytes: Uint8Array, source: string) {
  const fields = readMessage(bytes, source)
  const pieces = fields.filter(({ field }) => field === 1).map(({ value }) => parsePiece(messageOf(value)))
  // They follow the pieces, so that a file which breaks off between two of these has neither.
  const isWhole = [2, 3].every((number) => fields.some(({ field }) => field === number))
  const trainer = messageOf(fields.find(({ field }) => field === 2)?.value)
  const normaliser = messageOf(fields.find(({ field }) => field === 3)?.value)
  const problems: string[] = []
  const stated = numberOf(trainer, 4, pieces.length)
  if (pieces.length === 0) problems.push('it has no pieces')
  if (!isWhole) problems.push('it breaks off before it says how it was made')
  else if (stated !== pieces.length) problems.push(`it has ${pieces.length} pieces and says that it has ${stated}`)
  if (pieces.some(({ score }) => !Number.isFinite(score))) problems.push('a piece has no finite score')
  if (numberOf(trainer, 3, 1) !== 1) problems.push('it is not a unigram model')
  if (byteLength(normaliser, 2) > 0) problems.push('it normalises text by a table, which is not supported')
  if (numberOf(normaliser, 5, 1) !== 1) problems.push('it does not mark spaces')
  if (numberOf(trainer, 24, 0) === 1) problems.push('it marks spaces at the end of words')
  if (problems.length > 0)
    throw new AppError('invalid', `${source} is no tokenizer for this engine`, { details: problems })
  return {
    pieces,
    /** Whether spaces at the ends and repeated ones are dropped. */
    trimsSpaces: numberOf(normaliser, 4, 1) === 1,
    /** Whether text is read as if a space stood before it. */
    addsSpace: numberOf(normaliser, 3, 1) === 1,
    /** Whether unknown characters become the pieces of their UTF-8 bytes. */
    byteFallback: numberOf(trainer, 35, 0) === 1,
  }

  function messageOf(value: bigint | Uint8Array | undefined): ReadField[] {
    return value instanceof Uint8Array ? readMessage(value, source) : []
  }
}

function parsePiece(fields: readonly ReadField[]) {
  const text = fields.find(({ field }) => field === 1)?.value
  const score = fields.find(({ field }) => field === 2)?.value
  return {
    text: text instanceof Uint8Array ? Buffer.from(text).toString('utf8') : '',
    score: score instanceof Uint8Array && score.length === 4 ? Buffer.from(score).readFloatLE() : 0,
    type: numberOf(fields, 3, pieceTypes.normal),
  }
}

function numberOf(fields: readonly ReadField[], number: number, otherwise: number): number {
  const value = fields.find(({ field }) => field === number)?.value
  return typeof value === 'bigint' ? Number(value) : otherwise
}

function byteLength(fields: readonly ReadField[], number: number): number {
  const value = fields.find(({ field }) => field === number)?.value
  return value instanceof Uint8Array ? value.length : 0
}
