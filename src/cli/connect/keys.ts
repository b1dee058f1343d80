import { AppError } from '../../errors.ts'
import { createKey, listChatModels, revokeKey } from '../../operations/operations.ts'
import { openRemote } from '../remote/client.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { readSecrets } from '../terminal/prompts.ts'
import { clientNamed } from './clients.ts'
import type { Connection } from './record.ts'

/** A key that was made for a client. */
interface MadeKey {
  readonly id: string
  readonly secret: string
  /** The server that was asked for it; null for this machine. */
  readonly asked: string | null
}

/** Makes an API key with the scopes that a client needs; one for a persona reaches her alone. */
async function makeKey(cli: Cli, name: string, persona: string | undefined): Promise<MadeKey> {
  const { server = null } = await cli.backend()
  const { id, secret } = await cli.ask(createKey, {
    name,
    ...(persona !== undefined && { personas: [persona] }),
    ...(persona === undefined &&
      !clientNamed(name).embeds && { scopes: ['chat', 'models'] as const satisfies string[] }),
  })
  return { id, secret, asked: server }
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

/** Revokes a key that was made here; a key that cannot be revoked now is named with the command for it. */
export async function revokeMadeKey(cli: Cli, { id, asked }: Pick<MadeKey, 'id' | 'asked'>): Promise<boolean> {
  try {
    const { server = null } = await cli.backend()
    if (server === asked) await cli.ask(revokeKey, { id })
    else throw new AppError('usage', asked === null ? 'it was made on this machine' : `it was made at ${asked}`)
    return true
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return true
    const place = asked === null ? '--local ' : `--server ${asked} `
    note(cli, `aichat: the key ${id} is not revoked: ${(reason as Error).message}; aichat ${place}key revoke ${id}`)
    return false
  }
}

/** The key of a connection: made here, or given by the user. */
export type KeyInUse = { readonly id: string; readonly asked: string | null } | undefined

interface KeyChoice {
  readonly key?: string
  readonly persona?: string
}

/** The given key, else the one of an earlier connection that fits, else a new one; each is tried on the daemon. */
export async function keyOf(
  cli: Cli,
  name: string,
  { key: given, persona }: KeyChoice,
  before: Connection | undefined,
  kept: string | undefined,
  server: string,
): Promise<readonly [KeyInUse, string]> {
  if (given !== undefined) {
    const text = given === '-' ? (await readSecrets(cli, 1))[0]!.trim() : given
    await tryKey(cli, server, text)
    return [undefined, text]
  }
  const made = before?.server === server && before.persona === persona ? before.key : undefined
  if (made && kept !== undefined && (await works(cli, server, kept))) return [made, kept]
  const { secret, ...key } = await makeKey(cli, name, persona)
  await revokeOnFailure(cli, key, before, () => tryKey(cli, server, secret))
  return [key, secret]
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

/** Does something, and revokes a new key where that fails: nothing is left of a connection that was not made. */
export async function revokeOnFailure<T>(
  cli: Cli,
  key: KeyInUse,
  before: Connection | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (reason) {
    if (key && key.id !== before?.key?.id) await revokeMadeKey(cli, key)
    throw reason
  }
}
