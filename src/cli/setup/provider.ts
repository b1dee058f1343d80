import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { allNamesOf, type PluginManifest, variableOfKey } from '../../plugins/plugins.ts'
import type { Cli } from '../terminal/cli.ts'
import { withProgress } from '../terminal/progress.ts'
import { askTerminal } from '../terminal/prompts.ts'
import { readStdinText } from '../terminal/stdin.ts'
import type { Found } from './found.ts'

/** A provider whose list of models came, with the key that it came for; nothing of it is stored. */
export interface Tried {
  /** The plugin document with that list. */
  readonly manifest: PluginManifest
  /** Undefined where no key is needed, or the stored one was used. */
  readonly key: string | undefined
}

/** Asks a provider, or a server, for its list of models. Throws as `Models.tried`. */
export async function tryOut(cli: Cli, app: App, manifest: PluginManifest, key: string | undefined): Promise<Tried> {
  if (!manifest.models_source) return { manifest, key }
  const { host } = new URL(manifest.models_source.url)
  const { tried } = await app.models()
  const asked = () => tried(manifest, key, cli.signal())
  return { manifest: await withProgress(cli, `asking ${host} for its models`, asked), key }
}

/** Asks for a key until its provider takes it; undefined where the provider cannot be asked, which is said. */
export async function askProvider(
  cli: Cli,
  app: App,
  found: Found,
  known?: PluginManifest,
): Promise<Tried | undefined> {
  for (;;) {
    const key = await askKey(cli, known ? `Key of ${known.name}:` : 'Paste the key:')
    const manifest = known ?? (await providerOf(cli, app, found, key))
    try {
      refuseKeyOfOther(found, manifest, key)
      return await tryOut(cli, app, manifest, key)
    } catch (reason) {
      if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
      cli.io.err(`aichat: ${reason.message}`)
      if (reason.code !== 'forbidden' && reason.code !== 'usage') return undefined
    }
  }
}

/** Asks for a key without showing it; after a text that is none, which is said, asks again with nothing typed. */
export async function askKey(cli: Cli, message: string): Promise<string> {
  for (;;) {
    const key = keyIn(await askTerminal(cli, { type: 'password', message }))
    const flaw = flawOfKey(key)
    if (flaw === undefined) return key
    cli.io.err(`aichat: ${flaw}`)
  }
}

/** The plugin of a key: by its beginning, else as the user says. */
async function providerOf(cli: Cli, app: App, found: Found, key: string): Promise<PluginManifest> {
  const keyed = found.providers.filter(({ auth }) => auth.key_env !== '')
  const id =
    idOfKey(found, key) ??
    (await askTerminal<string>(cli, {
      type: 'select',
      message: 'Which provider is this key of?',
      choices: keyed.map(({ id: value, name }) => ({ value, name })),
    }))
  return app.plugins.export(id)
}

/** The id of the plugin that a key is of, by its beginning; undefined where it tells none that is here. */
export function idOfKey({ providers }: Found, key: string): string | undefined {
  const variable = variableOfKey(key)
  return variable === undefined ? undefined : providers.find((each) => allNamesOf(each).includes(variable))?.id
}

/** Throws `usage` for a key that is plainly another provider's, before it is sent anywhere. */
export function refuseKeyOfOther(found: Found, { id, name }: PluginManifest, key: string): void {
  const other = found.providers.find((each) => each.id === idOfKey(found, key))
  if (other && other.id !== id) throw new AppError('usage', `This key is one of ${other.name}, not of ${name}`)
}

/** Reads a key from a pipe. Throws `usage` for none, and `invalid` for a text that is no key. */
export async function pipedKey(cli: Cli): Promise<string> {
  if (cli.io.stdinIsTerminal)
    throw new AppError('usage', 'Pipe the key in, or leave --key-stdin out to be asked for it')
  const key = keyIn(await readStdinText(cli))
  if (key === '') throw new AppError('usage', 'Nothing was piped in: --key-stdin reads a key')
  const flaw = flawOfKey(key)
  if (flaw !== undefined) throw new AppError('invalid', flaw)
  return key
}

/** A shell's or a `.env` file's `export NAME_KEY=`, or a header's name, in front of a copied key. */
const beforeKey =
  /^(?:(?:export |set |\$env:)?\w{0,80}(?:KEY|TOKEN) ?= ?|(?:authorization|(?:x-)?(?:goog-)?api-key): ?)?(?:bearer )?/i

/** The key in a text as it is copied: alone, in quotes, or as the value of a variable or a header. */
function keyIn(text: string): string {
  const value = text.trim().replace(beforeKey, '')
  return value.replace(/^(["'])(.{1,1000})\1;?$/, '$2').trim()
}

function flawOfKey(key: string): string | undefined {
  if (key === '') return 'Paste a key, or end with Ctrl-C'
  return /^[\x21-\x7e]+$/.test(key) ? undefined : 'Invalid key: a key is one line of printable ASCII without spaces'
}
