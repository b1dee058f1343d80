import { type App, backupPassphrase, openApp, openStoredKeys, type StoredKeys } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { isKeyName, looksLikeKey } from '../../plugins/plugins.ts'
import { readSecret } from '../../settings/settings.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { askSecret, readSecrets } from '../terminal/prompts.ts'
import { recordHere } from '../terminal/record.ts'
import { listing } from '../terminal/table.ts'

/** Stores a key: in the keychain, or where none works and it is allowed, in the file. */
export async function set(cli: Cli, name: string, options: { insecureStorage?: boolean }): Promise<void> {
  await withStoredKeys(cli, async (keys, app) => {
    const { settings } = app
    if (name !== backupPassphrase && !isKeyName(name, settings.pluginKeyNames))
      // The message omits the name, which may be the key itself, typed in its place.
      throw new AppError('invalid', 'Invalid key name: use that of its variable, such as OPENAI_API_KEY', {
        details: [
          'Names are capital letters, digits and _, and end in _API_KEY; PLUGIN_KEY_ENVS (plugins.key_names) allows others',
          'Give the name alone: the key itself is asked for, or piped in',
        ],
      })
    const stored = await keys.chooseStorage(options.insecureStorage === true)
    const value = cli.io.stdinIsPiped()
      ? (await readSecrets(cli, 1))[0]!.trim()
      : await askSecret(cli, `Value of ${name}`, 'stdin')
    if (!/^[\x21-\x7e]+$/.test(value)) throw new AppError('invalid', 'Invalid key: use printable ASCII without spaces')
    await keys.set(name, value, stored)
    await recordHere(cli, app, 'secrets.set', name)
    await print(cli, { name, stored }, () => '')
    note(cli, `aichat: ${name} is kept in the ${stored === 'keychain' ? stored : 'file that only you can read'}`)
  })
}

/** Prints the keys that plugins use or that are stored, with the place that is read first. */
export async function list(cli: Cli): Promise<void> {
  await withStoredKeys(cli, async (keys) => {
    await print(cli, { secrets: keys.list() }, ({ secrets }) =>
      listing(cli, secrets, 'no keys are set; store one: aichat secret set OPENAI_API_KEY', [
        ['NAME', (row) => row.name],
        ['FROM', (row) => row.from],
      ]),
    )
  })
}

/** Removes a stored key from the keychain and the file. Throws `not_found` when neither has it. */
export async function remove(cli: Cli, name: string): Promise<void> {
  await withStoredKeys(cli, async (keys, app) => {
    if (!(await keys.remove(name)))
      throw new AppError('not_found', `Stored key ${looksLikeKey(name) ? 'of that name' : `"${name}"`} not found`)
    await recordHere(cli, app, 'secrets.remove', name)
    await print(cli, { name, removed: true }, () => '')
    if (readSecret(name, app.settings.environment)) note(cli, `aichat: ${name} is still set in the environment`)
  })
}

/** Throws `usage` when commands go to a server: keys stay on the machine that uses them. */
async function withStoredKeys(cli: Cli, work: (keys: StoredKeys, app: App) => Promise<void>): Promise<void> {
  const target = await findServer(cli)
  if (target)
    throw new AppError('usage', `Keys are kept on the machine that uses them, and commands go to ${target.url}`, {
      details: ['Run this there, or add --local to keep the key on this machine'],
    })
  const app = await openApp(await cli.settings())
  try {
    await work(openStoredKeys(app), app)
  } finally {
    await app.close()
  }
}
