import { closeSync, openSync, readSync } from 'node:fs'
import { AppError } from '../errors.ts'
import { createWorkQueue, runInChild } from '../process/process.ts'
import { damaged, FileError, unsupported } from './file-error.ts'
import { ageIntro } from './file-kind.ts'

/** The default of age itself: 256 MiB and about a second for each guess. */
const defaultWorkFactor = 18

/** A passphrase's key costs 2^n KiB, for any n of a file: 512 MiB are allowed, twice the default of age. */
const highestWorkFactor = 19

/** Characters; a shorter passphrase is guessed at any work factor. */
const shortestPassphrase = 8

export interface AgeTask {
  readonly action: 'encrypt' | 'decrypt'
  readonly from: string
  /** Created; only its owner may read it. */
  readonly to: string
  readonly passphrase: string
  readonly workFactor: number
}

/**
 * Encrypts a file with a passphrase, so that `age -d` reads it. Throws `invalid` for a passphrase that is too short.
 */
export async function encryptFile(
  from: string,
  to: string,
  passphrase: string,
  workFactor = defaultWorkFactor,
  signal?: AbortSignal,
): Promise<void> {
  if (passphrase.length < shortestPassphrase)
    throw new AppError('invalid', `The passphrase must have at least ${shortestPassphrase} characters`)
  await inTurn({ action: 'encrypt', from, to, passphrase, workFactor }, signal)
}

/**
 * Decrypts a file that was encrypted with a passphrase, by aichat or by `age -p`. Throws a FileError: `unsupported`
 * for one that is sealed for a key or asks for too much work, `not_authenticated` for a wrong passphrase or a changed file.
 */
export async function decryptFile(from: string, to: string, passphrase: string, signal?: AbortSignal): Promise<void> {
  refuseHostile(readHeader(from))
  try {
    await inTurn({ action: 'decrypt', from, to, passphrase, workFactor: 0 }, signal)
  } catch (reason) {
    if (reason instanceof AppError || signal?.aborted || (reason as { code?: unknown }).code !== undefined) throw reason
    throw new FileError(
      'not_authenticated',
      'The package does not decrypt: the passphrase is wrong or the file was changed',
      { cause: reason },
    )
  }
}

function readHeader(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(1024)
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

/** The age format, "The scrypt recipient type": it must be the only one, and its work factor has no leading zero. */
function refuseHostile(header: string): void {
  const [intro, stanza = ''] = header.split('\n', 2)
  if (`${intro}\n` !== ageIntro) throw damaged('The package is not an age file of version 1')
  if (stanza.startsWith('-> ') && !stanza.startsWith('-> scrypt '))
    throw unsupported(
      'The package is encrypted for a key, not with a passphrase: decrypt it with `age -d -i KEYFILE` first',
    )
  const match = /^-> scrypt [A-Za-z0-9+/]{22} ([1-9]\d*)$/.exec(stanza)
  if (!match) throw damaged('The header of the age file is damaged')
  if (Number(match[1]) > highestWorkFactor)
    throw unsupported(
      `The package asks for a work factor of ${match[1]!.slice(0, 10)}; at most ${highestWorkFactor} is allowed here`,
    )
}

/** One task at a time: each may need hundreds of megabytes. */
const tasks = createWorkQueue({ running: 1 })

async function inTurn(task: AgeTask, signal: AbortSignal | undefined): Promise<unknown> {
  const leave = await tasks.enter(signal)
  try {
    return await runInChild({ beside: import.meta.url, name: './age-child' }, task, signal)
  } finally {
    leave()
  }
}
