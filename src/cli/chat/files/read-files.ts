import { realpath } from 'node:fs/promises'
import { AppError } from '../../../errors.ts'
import { counted } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { isLocalOnly } from '../../terminal/local-only.ts'
import { emptyInput, readStdin } from '../../terminal/stdin.ts'
import type { Attached, Attachment, LeftOut } from './attachment.ts'
import { mebibyte, readFound, readNamed } from './bytes.ts'
import { attachmentOf, type Content, isText } from './content.ts'
import { shownName } from './delimited.ts'
import { type Place, placesOf } from './places.ts'

/** Bytes of a file that the user names, or of a pattern. */
const longestFile = 20 * mebibyte
/** Bytes of a file of a folder: longer ones are rarely written by hand. */
const longestListed = mebibyte
/** Bytes of a page or another file of the web, unpacked. */
const longestPage = 10 * mebibyte
/** Bytes of the text files of folders and patterns together: some million tokens, as much as any model reads. */
const mostFound = 4 * mebibyte
/** Files in all; each is a part or two of the message, which has at most 1,000. */
const mostFiles = 400
/** Bytes of the parts in all: a request has at most 32 MiB, with its other messages. */
const mostBytes = 30 * mebibyte

/**
 * Reads the files that values of -f stand for, each once, in the order in which they were given. A value that cannot be used
 * is an error, and all of these are reported at once; a file of a folder or a pattern is left out and listed instead.
 */
export async function readFiles(cli: Cli, values: readonly string[], signal: AbortSignal): Promise<Attached> {
  const reading: Reading = { cli, signal, files: [], leftOut: [], seen: new Set(), found: 0, isFound: false }
  const problems: AppError[] = []
  for (const value of values) {
    try {
      await readValue(reading, value)
    } catch (reason) {
      if (signal.aborted || !(reason instanceof AppError)) throw reason
      problems.push(reason)
    }
  }
  if (problems.length > 0) throw together(problems)
  const { files, leftOut, isFound } = reading
  if (sizeOf(files) > mostBytes)
    throw new AppError('too_large', `The files make a request of more than ${mostBytes / mebibyte} MiB: leave some out`)
  return { files, leftOut, isFound }
}

interface Reading {
  readonly cli: Cli
  readonly signal: AbortSignal
  readonly files: Attachment[]
  readonly leftOut: LeftOut[]
  /** Real paths and addresses. */
  readonly seen: Set<string>
  /** Bytes of text of folders and patterns so far. */
  found: number
  isFound: boolean
}

/** Throws `no_input` for a value of which nothing is sent. */
async function readValue(reading: Reading, value: string): Promise<void> {
  const { places, leftOut } = await placesOf(value, reading.signal)
  const before = reading.leftOut.length
  reading.leftOut.push(...leftOut)
  let taken = 0
  for (const [index, place] of places.entries()) {
    reading.signal.throwIfAborted()
    const full = fullness(reading, place)
    if (full !== undefined) {
      const rest = counted(places.length - index, 'more file')
      reading.leftOut.push({ name: value, reason: `${rest}: ${full}` })
      break
    }
    if (await take(reading, place)) taken++
  }
  reading.isFound ||= places.some(({ kind }) => kind !== 'stdin' && kind !== 'named')
  if (taken > 0) return
  const details = reading.leftOut.slice(before).map(({ name, reason }) => `${shownName(name)}: ${reason}`)
  throw new AppError('no_input', `Nothing in ${shownName(value)} can be sent`, { details })
}

/** The bound that keeps another file out; undefined for none. */
function fullness({ files, found }: Reading, { kind }: Place): string | undefined {
  if (files.length >= mostFiles) return `at most ${mostFiles} are sent`
  const isFound = kind === 'matched' || kind === 'listed'
  return isFound && found >= mostFound ? `${mostFound / mebibyte} MiB are reached` : undefined
}

/** Reads a place, unless it was read before. False where it is left out. */
async function take(reading: Reading, place: Place): Promise<boolean> {
  const key = await keyOf(place)
  if (reading.seen.has(key)) return true
  try {
    const content = await contentOf(reading, place)
    if (place.kind === 'listed' && !isText(content)) throw leftOutAs('not text')
    reading.files.push(await attachmentOf(content, reading.signal))
    if (place.kind === 'matched' || place.kind === 'listed') reading.found += isText(content) ? content.bytes.length : 0
    reading.seen.add(key)
    return true
  } catch (reason) {
    if ((place.kind !== 'matched' && place.kind !== 'listed') || !(reason instanceof AppError)) throw reason
    reading.leftOut.push({ name: place.path, reason: withoutName(reason.message, place.path) })
    return false
  }
}

/** The reason that stands behind the name in a message. */
function withoutName(message: string, path: string): string {
  const name = `${shownName(path)} `
  return message.startsWith(name) ? message.slice(name.length).replace(/^is /, '') : message
}

function leftOutAs(reason: string): AppError {
  return new AppError('invalid', reason)
}

async function contentOf({ cli, signal }: Reading, place: Place): Promise<Content> {
  if (place.kind === 'address') {
    if (await isLocalOnly(cli))
      throw new AppError('unavailable', `${place.url.host} was not asked, since nothing may leave this machine`, {
        details: ['Save the page to a file and name that, or leave out --local-only (chat.local_only)'],
      })
    const { fetchFile } = await import('../../../app/fetched-file.ts')
    const { url, ...file } = await fetchFile(place.url.href, longestPage, signal)
    return { ...file, name: url, isAddress: true }
  }
  if (place.kind === 'stdin') {
    const bytes = await readStdin(cli, longestFile)
    if (bytes.length === 0) throw emptyInput('ask')
    return { name: 'standard input', bytes }
  }
  const { kind, path } = place
  if (kind === 'named') return { name: path, bytes: await readNamed(path, longestFile, signal) }
  return { name: path, bytes: await readFound(path, kind === 'listed' ? longestListed : longestFile) }
}

async function keyOf(place: Place): Promise<string> {
  if (place.kind === 'stdin') return '-'
  if (place.kind === 'address') return place.url.href
  return realpath(place.path).catch(() => place.path)
}

function sizeOf(files: readonly Attachment[]): number {
  const parts = files.flatMap((file) => file.parts)
  return parts.reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0)
}

/** One error for all values that cannot be used; its exit code is that of the first. */
function together(problems: readonly AppError[]): AppError {
  const [first] = problems
  if (problems.length === 1) return first!
  const details = problems.map(({ message, details: [detail] }) => (detail ? `${message} (${detail})` : message))
  return new AppError(first!.code, `${problems.length} of the files cannot be sent`, { details, cause: first })
}
