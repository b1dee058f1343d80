import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../errors.ts'
import { fileKindOf } from '../../formats/file-kind.ts'
import { openPackage } from '../../personas/package/open-file.ts'
import { openScratch } from '../../personas/package/scratch.ts'
import { refused, type VerifyResult, verifySource } from '../../personas/package/verify.ts'
import { type Cli, mayAsk, show } from '../terminal/cli.ts'
import { openProgress } from '../terminal/progress.ts'
import { streamStdin } from '../terminal/stdin.ts'

/**
 * Says whether a package is what was exported: of a file and of stdin in this process, without the database; of a stored
 * persona by asking the core. Exit 65 when it is not, 66 when there is no such file.
 */
export async function verify(cli: Cli, source: string, passphraseFromStdin: boolean): Promise<void> {
  const verdict = await judge(cli, source, passphraseFromStdin)
  if (!verdict.valid) cli.exit = 65
  await show(cli, verdict, (found) => verdictText(found, source))
}

async function judge(cli: Cli, source: string, passphraseFromStdin: boolean): Promise<VerifyResult> {
  if (source !== '-' && !existsSync(source)) return judgeStored(cli, source)
  if (source !== '-' && !statSync(source).isFile())
    throw new AppError('no_input', `Cannot read ${source}: it is no file`)
  const scratch = openScratch(join((await cli.settings()).paths.state, 'packages'), randomUUID)
  const path = source === '-' ? scratch.path() : source
  let plain = ''
  try {
    if (source === '-') await pipeline(streamStdin(cli), createWriteStream(path, { mode: 0o600 }))
    // The folder for what is decrypted is made only where something is.
    if (fileKindOf(path) === 'age') plain = scratch.path()
    return await judgeFile(cli, path, plain, passphraseFromStdin)
  } finally {
    if (source === '-') rmSync(path, { force: true })
    if (plain) rmSync(plain, { force: true })
  }
}

async function judgeStored(cli: Cli, id: string): Promise<VerifyResult> {
  if (/[/\\]|\.(?:json|dna|zip|age|png)$/i.test(id))
    throw new AppError('no_input', `Cannot read ${id}: there is no such file`)
  const { verifyPersona } = await import('../../operations/packages.ts')
  return cli.ask(verifyPersona, { id, package: nothing() })
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function judgeFile(cli: Cli, path: string, scratch: string, passphraseFromStdin: boolean): Promise<VerifyResult> {
  const passphrase = await askPassphrase(cli, path, passphraseFromStdin)
  const progress = openProgress(cli)
  try {
    const { source, close } = await openPackage(path, scratch, passphrase)
    const total = (source.head.metadata['counts'] as { memories?: unknown } | undefined)?.memories
    const all = typeof total === 'number' && total > 0 ? total : Number.POSITIVE_INFINITY
    const verdict = verifySource(source, (memories) => {
      if (memories % 500 === 0) progress.show(memories / all, `${memories} memories`)
    })
    await close()
    return verdict
  } catch (reason) {
    return refused(reason)
  } finally {
    progress.clear()
  }
}

/** The passphrase of a sealed package: piped in, or asked; undefined for a package that has none. */
export async function askPassphrase(cli: Cli, path: string, fromStdin: boolean): Promise<string | undefined> {
  if (fileKindOf(path) !== 'age') return undefined
  const { askSecret, readSecrets } = await import('../terminal/prompts.ts')
  if (fromStdin) return (await readSecrets(cli, 1))[0]
  return (await mayAsk(cli)) ? askSecret(cli, 'Passphrase', '--passphrase-stdin') : undefined
}

function verdictText(
  { valid, version, memories, adaptations, actual, content_hash, problems, sealed_since }: VerifyResult,
  source: string,
): string {
  const name = source === '-' ? 'the standard input' : source
  if (!valid) return [`invalid ${name}`, ...problems.map((problem) => `  ${problem}`)].join('\n')
  return [
    `valid   ${name}: version ${version}, ${memories} memories, ${adaptations} adaptations`,
    `  checksum     ${actual}`,
    `  content hash ${content_hash}`,
    ...(typeof sealed_since === 'number' ? [`  sealed since ${new Date(sealed_since).toISOString()}`] : []),
  ].join('\n')
}
