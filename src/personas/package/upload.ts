import { createReadStream, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '../../errors.ts'
import { ageIntro, createFile, parseStrictJson } from '../../formats/formats.ts'
import { packageLimits } from './format.ts'
import type { Scratch } from './scratch.ts'

export interface ReceivedPackage {
  readonly path: string
  /** 0 for an empty body. */
  readonly bytes: number
  readonly passphrase: string | undefined
  discard(): void
}

/** A package in a local file: read in place in this process, streamed over HTTP, after its passphrase if any. */
export class LocalPackage implements AsyncIterable<Uint8Array> {
  readonly path: string
  readonly bytes: number
  readonly #passphrase: string | undefined
  readonly #watch: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

  /** @param watch passes the streamed bytes on, for a progress bar */
  constructor(
    path: string,
    passphrase: string | undefined,
    watch: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> = (bytes) => bytes,
  ) {
    this.path = resolve(path)
    this.bytes = statSync(path).size
    this.#passphrase = passphrase
    this.#watch = watch
  }

  received(): ReceivedPackage {
    return { path: this.path, bytes: this.bytes, passphrase: this.#passphrase, discard: () => {} }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#passphrase !== undefined) yield Buffer.from(`${JSON.stringify({ passphrase: this.#passphrase })}\n`)
    yield* this.#watch(createReadStream(this.path))
  }
}

/** The longest passphrase line: bytes. */
const longestLine = 4096

/**
 * Writes a package to a scratch file as it is received. One line of JSON, `{"passphrase":"…"}`, may precede an encrypted
 * one: an address would end up in logs. Throws `too_large` beyond `packageLimits.bytes`.
 */
export async function receivePackage(stream: AsyncIterable<Uint8Array>, scratch: Scratch): Promise<ReceivedPackage> {
  const path = scratch.path()
  const file = createFile(path)
  let passphrase: string | undefined
  let start: Buffer | undefined = Buffer.alloc(0)
  const write = (bytes: Uint8Array) => {
    file.write(bytes)
    if (file.size > packageLimits.bytes)
      throw new AppError('too_large', `A package may have ${packageLimits.bytes} bytes`)
  }
  const begin = (bytes: Buffer) => {
    start = undefined
    const split = splitPassphrase(bytes)
    passphrase = split.passphrase
    write(split.rest)
  }
  try {
    for await (const piece of stream) {
      if (!start) write(piece)
      else {
        start = Buffer.concat([start, piece])
        if (start.length > longestLine + ageIntro.length) begin(start)
      }
    }
    if (start) begin(start)
    file.close({ flush: false })
    return { path, bytes: file.size, passphrase, discard: () => rmSync(path, { force: true }) }
  } catch (reason) {
    file.discard()
    throw reason
  }
}

function splitPassphrase(bytes: Buffer): { readonly passphrase: string | undefined; readonly rest: Buffer } {
  const end = bytes.indexOf(0x0a)
  const isAge = end > 0 && bytes.toString('latin1', end + 1, end + 1 + ageIntro.length) === ageIntro
  if (!isAge || bytes[0] !== 0x7b) return { passphrase: undefined, rest: bytes }
  const line = parseStrictJson(bytes.toString('utf8', 0, end)) as { readonly passphrase?: unknown }
  if (typeof line.passphrase !== 'string')
    throw new AppError('invalid', 'The line before the age file has no passphrase')
  return { passphrase: line.passphrase, rest: bytes.subarray(end + 1) }
}
