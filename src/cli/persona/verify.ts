import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { counted, fileKindOf } from '../../formats/formats.ts'
import { LocalPackage, openScratch, receivePackage, verifyPackage } from '../../personas/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { askSecret, canAsk, readSecrets } from '../terminal/prompts.ts'
import { streamStdin } from '../terminal/stdin.ts'

type Verification = Awaited<ReturnType<typeof verifyPackage>>

/** Verifies a file or stdin here, without the database; a stored persona by the core. Exit 65 invalid, 66 not found. */
export async function verify(cli: Cli, source: string, options: { passphraseStdin?: boolean }): Promise<void> {
  const result = await verifySourceOf(cli, source, options.passphraseStdin === true)
  if (!result.valid) cli.exit = 65
  await print(cli, result, (found) => resultText(found, source))
}

async function verifySourceOf(cli: Cli, source: string, passphraseFromStdin: boolean): Promise<Verification> {
  if (source !== '-' && !existsSync(source)) return verifyStored(cli, source)
  if (source !== '-' && !statSync(source).isFile()) throw new AppError('no_input', `Cannot read ${source}: not a file`)
  const scratch = openScratch(join((await cli.settings()).paths.state, 'packages'), randomUUID)
  const received =
    source === '-' ? await receivePackage(streamStdin(cli), scratch) : new LocalPackage(source, undefined).received()
  const progress = openProgress(cli)
  let verified = 0
  try {
    const passphrase = received.passphrase ?? (await askPassphrase(cli, received.path, passphraseFromStdin))
    progress.wait(() => `${verified} memories verified`)
    return await verifyPackage(received.path, scratch, {
      passphrase,
      onMemory(memories, total) {
        verified = memories
        if (total !== undefined && memories % 500 === 0)
          progress.show(memories / total, `${memories} of ${total} memories`)
      },
    })
  } finally {
    progress.clear()
    received.discard()
  }
}

async function verifyStored(cli: Cli, id: string): Promise<Verification> {
  if (/[/\\]|\.(?:json|dna|zip|age|png)$/i.test(id)) throw new AppError('no_input', `Cannot read ${id}: file not found`)
  // Loaded here alone: the schemas of the operations take a third of the time in which a small package is verified.
  const { verifyPersona } = await import('../../operations/packages.ts')
  return cli.ask(verifyPersona, { id, package: nothing() })
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The passphrase of an encrypted package, piped in or asked; undefined for a package that has none. */
export async function askPassphrase(cli: Cli, path: string, fromStdin: boolean): Promise<string | undefined> {
  if (fileKindOf(path) !== 'age') return undefined
  if (fromStdin) return (await readSecrets(cli, 1))[0]
  return (await canAsk(cli)) ? askSecret(cli, 'Passphrase', '--passphrase-stdin') : undefined
}

function resultText(
  { valid, version, memories, adaptations, actual, content_hash, problems }: Verification,
  source: string,
): string {
  const name = source === '-' ? 'standard input' : source
  if (!valid) return [`invalid ${name}`, ...problems.map((problem) => `  ${problem}`)].join('\n')
  return [
    `valid   ${name}: version ${version}, ${counted(memories, 'memory', 'memories')}, ${counted(adaptations, 'adaptation')}`,
    `  checksum     ${actual}`,
    `  content hash ${content_hash}`,
  ].join('\n')
}
