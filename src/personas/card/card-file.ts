import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { fileKindOf, memberSpans } from '../../formats/formats.ts'
import { type Card, readCardJson, readCardPng } from './card.ts'
import { isFirstVersion } from './first-version.ts'

/** The largest card file, in bytes: a picture of some megabytes with a long lorebook. */
const largestCard = 32 * 1024 ** 2

export interface CardFile {
  readonly card: Card
  /** The picture of a PNG card, in base64. */
  readonly portrait?: string
}

/** Reads a character card; undefined for any other file. Throws `invalid` for a damaged card, `too_large` for a large one. */
export function readCardFile(path: string): CardFile | undefined {
  const kind = fileKindOf(path)
  if (kind !== 'png' && !(kind === 'json' && isCardJson(path))) return undefined
  if (statSync(path).size > largestCard)
    throw new AppError('too_large', `A character card may have ${largestCard} bytes`)
  const bytes = readFileSync(path)
  if (kind === 'png') return { card: readCardPng(bytes), portrait: bytes.toString('base64') }
  return { card: readCardJson(bytes.toString('utf8')) }
}

/** Reads the top-level names only, in flat memory. */
function isCardJson(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > largestCard) return false
    const members = memberSpans(file, size)
    return (members.has('spec') || isFirstVersion(members)) && !members.has('export_metadata')
  } finally {
    closeSync(file)
  }
}
