import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { createKey, listChatModels, revokeKey } from '../../operations/operations.ts'
import { replaceFile } from '../../storage/storage.ts'
import { openRemote } from '../remote/client.ts'
import type { Cli } from '../terminal/cli.ts'
import { readSecrets } from '../terminal/prompts.ts'
import { clientNamed } from './clients.ts'

interface KeyChoice {
  readonly key?: string
  readonly persona?: string
}

/**
 * The given key, else the one that was made for this client before, else a new one, which reaches a named persona alone. Each
 * is tried on the daemon. Keys that are made are kept in the configuration folder, mode 600.
 */
export async function keyOf(cli: Cli, name: string, { key, persona }: KeyChoice, server: string): Promise<string> {
  if (key !== undefined) {
    const text = key === '-' ? (await readSecrets(cli, 1))[0]!.trim() : key
    await tryKey(cli, server, text)
    return text
  }
  const owner = persona === undefined ? name : `${name}@${encodeURIComponent(persona)}`
  const file = join((await cli.settings()).paths.config, 'client-keys', owner)
  const kept = keptIn(file)
  if (kept !== undefined && (await works(cli, server, kept))) return kept
  const { id, secret } = await cli.ask(createKey, {
    name,
    ...(persona !== undefined && { personas: [persona] }),
    ...(persona === undefined &&
      !clientNamed(name).embeds && { scopes: ['chat', 'models'] as const satisfies string[] }),
  })
  try {
    await tryKey(cli, server, secret)
    replaceFile(file, `${secret}\n`)
  } catch (reason) {
    await cli.ask(revokeKey, { id }).catch(() => {})
    throw reason
  }
  return secret
}

function keptIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/** Asks the daemon for its models with a key, as the client will. Throws as that request fails. */
async function tryKey(cli: Cli, server: string, key: string): Promise<void> {
  const remote = openRemote({ server, token: key, insecure: cli.globals().insecure === true })
  try {
    await remote.ask(listChatModels, {}, cli.signal())
  } catch (reason) {
    if (!(reason instanceof AppError) || reason.code !== 'invalid_api_key') throw reason
    throw new AppError('invalid_api_key', `The aichat at ${server} does not take the key: ${reason.message}`, {
      details: ['Leave --key out to have one made, or make one there: aichat key create'],
      cause: reason,
    })
  }
}

/** Whether the daemon still takes a key. Throws where the request fails otherwise. */
async function works(cli: Cli, server: string, key: string): Promise<boolean> {
  try {
    await tryKey(cli, server, key)
    return true
  } catch (reason) {
    if (reason instanceof AppError && reason.status === 401) return false
    throw reason
  }
}
