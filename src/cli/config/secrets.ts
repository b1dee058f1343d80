import { type App, openApp } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { createKeychain } from '../../keychain/keychain.ts'
import { type KeychainSecrets, keychainIndex, openKeychainSecrets } from '../../keychain/keychain-secrets.ts'
import { isKeyName } from '../../plugins/key-rules.ts'
import { looksLikeKey } from '../../plugins/key-shapes.ts'
import { namesOf } from '../../plugins/keys.ts'
import { readSecret, type Settings } from '../../settings/settings.ts'
import { findServer } from '../remote/contexts.ts'
import { type Cli, note, show, table } from '../terminal/cli.ts'
import { askSecret, readSecrets } from '../terminal/prompts.ts'

export interface SecretOptions {
  readonly insecureStorage?: boolean
}

/** The places that commands write to. */
interface Places {
  readonly settings: Settings
  readonly keychain: KeychainSecrets
  readonly file: App['secrets']
}

/** Stores a key: in the keychain, or where none works and it is allowed, in the file. */
export async function setSecret(cli: Cli, name: string, options: SecretOptions): Promise<void> {
  await withPlaces(cli, async ({ settings, keychain, file }) => {
    if (!isKeyName(name, settings.pluginKeyNames))
      // It may be the key itself, given in the name's place.
      throw new AppError('invalid', 'That is no name that a plugin may use for its key', {
        details: ['Such names end in _API_KEY; others are allowed by PLUGIN_KEY_ENVS', 'The key itself is asked for'],
      })
    // Whether it can be kept is found out before it is asked.
    const works = await createKeychain()
      .probe()
      .then(() => true)
      .catch((reason) => {
        if (options.insecureStorage) return false
        throw reason
      })
    const value = cli.io.stdinIsGiven()
      ? (await readSecrets(cli, 1))[0]!.trim()
      : await askSecret(cli, `Value of ${name}`, 'stdin')
    if (!/^[\x21-\x7e]+$/.test(value))
      throw new AppError('invalid', 'A key holds neither spaces nor unusual characters')
    if (works) await keychain.set(name, value)
    else file.set(name, value)
    const stored = works ? 'keychain' : 'file'
    await show(cli, { name, stored }, () => '')
    note(cli, `aichat: ${name} is kept in the ${stored === 'file' ? 'file that only you can read' : 'keychain'}`)
  })
}

/** Every key that the plugins could use or that is stored, and where it is found first. */
export async function listSecrets(cli: Cli): Promise<void> {
  await withPlaces(cli, async ({ settings, keychain, file }, app) => {
    const used = app.plugins.list().flatMap((plugin) => namesOf(plugin))
    const names = [...new Set([...used, ...keychain.names(), ...file.names()])].sort()
    const secrets = names.flatMap((name) => {
      const origin = originOf(name)
      return origin ? [{ name, from: origin }] : []
    })
    await show(cli, { secrets }, () =>
      table(cli, secrets, [
        ['NAME', (row) => row.name],
        ['FROM', (row) => row.from],
      ]),
    )

    function originOf(name: string): string | undefined {
      const origin = readSecret(name, settings.environment)?.origin
      // Read from the file that NAME_FILE names, which is not the file we store secrets in.
      if (origin !== undefined) return origin === 'file' ? `${name}_FILE` : origin
      if (keychain.has(name)) return 'keychain'
      return file.has(name) ? 'file' : undefined
    }
  })
}

/** Removes a stored key wherever we keep it; exit 67 when we do not. */
export async function removeSecret(cli: Cli, name: string): Promise<void> {
  await withPlaces(cli, async ({ settings, keychain, file }) => {
    const removed = [await keychain.remove(name), file.remove(name)]
    if (!removed.includes(true))
      throw new AppError('not_found', `There is no stored key ${looksLikeKey(name) ? 'of that name' : `"${name}"`}`)
    await show(cli, { name, removed: true }, () => '')
    if (readSecret(name, settings.environment)) note(cli, `aichat: ${name} is still set in the environment`)
  })
}

/** Keys stay on the machine whose aichat uses them. Throws `usage` when commands go to another. */
async function withPlaces(cli: Cli, work: (places: Places, app: App) => Promise<void>): Promise<void> {
  const target = await findServer(cli)
  if (target)
    throw new AppError('usage', `Keys are kept on the machine that uses them, and commands go to ${target.url}`, {
      details: ['Run this there, or say --local to keep it on this one'],
    })
  const settings = await cli.settings()
  const app = openApp(settings)
  try {
    const keychain = openKeychainSecrets(keychainIndex(settings.paths), createKeychain())
    await work({ settings, keychain, file: app.secrets }, app)
  } finally {
    await app.close()
  }
}
