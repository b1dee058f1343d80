import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { damaged, fileKindOf, foreignShape, memberSpans, openZip, type ZipFile } from '../../formats/formats.ts'
import { type Fields, isFields } from '../fields.ts'
import { type Card, readCardJson, readCardPng } from './card.ts'
import { isFirstVersion } from './first-version.ts'

/** The largest card file, in bytes: a picture of some megabytes with a long lorebook. */
const largestCard = 32 * 1024 ** 2

/** The largest portrait, in bytes: it is kept with the persona. */
const largestPortrait = 9 * 1024 ** 2

export interface CardFile {
  readonly card: Card
  /** The picture of a PNG card or of an archive's icon, in base64. */
  readonly portrait?: string
  /** Files of an archive that are not kept. */
  readonly assets: number
}

/** Reads a character card; undefined for any other file. Throws `invalid` for a damaged card, `too_large` for a large one. */
export function readCardFile(path: string): CardFile | undefined {
  const kind = fileKindOf(path)
  if (kind === 'zip') return readArchive(path)
  if (kind !== 'png' && !(kind === 'json' && isCardJson(path))) return undefined
  if (statSync(path).size > largestCard) throw tooLarge()
  const bytes = readFileSync(path)
  if (kind === 'png') return { card: readCardPng(bytes), portrait: bytes.toString('base64'), assets: 0 }
  return { card: readCardJson(bytes.toString('utf8')), assets: 0 }
}

function tooLarge(): AppError {
  return new AppError('too_large', `A character card may have ${largestCard} bytes`)
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

/** The card of a CHARX archive (character card version 3, "CHARX"); undefined for an archive without one. */
function readArchive(path: string): CardFile | undefined {
  const zip = openZip(path, foreignShape)
  try {
    const size = zip.members.get('card.json')?.size
    if (size === undefined) return undefined
    if (size > largestCard) throw tooLarge()
    const card = readCardJson(bytesOf(zip, 'card.json').toString('utf8'))
    const files = [...zip.members.keys()].filter((name) => !name.endsWith('/') && name !== 'card.json')
    const icon = iconOf(card.data, zip)
    const assets = files.filter((name) => name !== icon).length
    if (icon === undefined) return { card: withoutAssets(card, icon), assets }
    return { card: withoutAssets(card, icon), portrait: bytesOf(zip, icon).toString('base64'), assets }
  } finally {
    zip.close()
  }
}

function bytesOf(zip: ZipFile, name: string): Buffer {
  const bytes = Buffer.concat([...zip.read(name)])
  if (bytes.length === 0) throw damaged(`${name} is empty`)
  return bytes
}

const pngStart = '89504e470d0a1a0a'

/** The member with the main icon, where it is a PNG that can be kept. */
function iconOf(data: Fields, zip: ZipFile): string | undefined {
  const icons = (Array.isArray(data['assets']) ? data['assets'] : [])
    .filter(isFields)
    .filter(({ type }) => type === 'icon')
  const main = icons.find(({ name }) => name === 'main') ?? icons[0]
  const path = main && embeddedPath(main['uri'])
  const size = path === undefined ? undefined : zip.members.get(path)?.size
  if (path === undefined || size === undefined || size > largestPortrait) return undefined
  const [first] = zip.read(path)
  return first && Buffer.from(first.subarray(0, 8)).toString('hex') === pngStart ? path : undefined
}

/** The specification spells the scheme `embeded`; some programs correct it. */
function embeddedPath(uri: unknown): string | undefined {
  return typeof uri === 'string' ? /^embedd?ed:\/\/(.+)$/.exec(uri)?.[1] : undefined
}

/** The card without references to files of its archive; the icon is the picture of the card from now on. */
function withoutAssets(card: Card, icon: string | undefined): Card {
  const { assets } = card.data
  if (!Array.isArray(assets)) return card
  const kept = assets.flatMap((asset: unknown) => {
    const path = isFields(asset) ? embeddedPath(asset['uri']) : undefined
    if (path === undefined) return [asset]
    return path === icon ? [{ ...(asset as Fields), uri: 'ccdefault:' }] : []
  })
  return { ...card, data: { ...card.data, assets: kept } }
}
