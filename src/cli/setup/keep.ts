import { type App, getSetting, openStoredKeys, setSetting, settingsPaths, unsetSetting } from '../../app/app.ts'
import { activatePlugin, deactivatePlugin, installPlugin } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { recordHere } from '../terminal/record.ts'
import type { Tried } from './provider.ts'

/**
 * Keeps a provider with its key, its list and its default model, and has it answer from now on. The key comes first: what fails
 * before the last step leaves the model that answered before. Returns the model as -m names it.
 */
export async function keepProvider(cli: Cli, app: App, { manifest, key }: Tried, model: string): Promise<string> {
  if (key !== undefined) await keepKey(cli, app, manifest.auth.key_env, key)
  await cli.ask(installPlugin, { document: { ...manifest, default_model: model }, replace: true })
  await cli.ask(activatePlugin, { id: manifest.id })
  return answering(cli, app, `${manifest.id}:${model}`)
}

/** Has a model on this machine answer from now on. Returns it as -m names it. */
export async function keepLocal(cli: Cli, app: App, name: string): Promise<string> {
  setSetting(cli.io.environment, 'local.model', name)
  await recordHere(cli, app, 'settings.set', 'local.model')
  await cli.ask(deactivatePlugin, {})
  return answering(cli, app, `local:${name}`)
}

/** Keeps a key in the keychain, or where none works in the file, and says where. */
async function keepKey(cli: Cli, app: App, name: string, key: string): Promise<void> {
  const stored = await openStoredKeys(app).keep(name, key)
  await recordHere(cli, app, 'secrets.set', name)
  const file = settingsPaths(cli.io.environment)['secrets']
  const place = stored === 'keychain' ? 'the keychain' : `${file}, which only you can read: no keychain works here`
  note(cli, `aichat: the key is kept in ${place}`)
  const origin = app.keys.originOf(name)
  if (origin !== 'keychain' && origin !== 'file')
    note(cli, `aichat: ${name} is set in the environment too, and that one is used`)
}

/** Takes away the setting that would name another model, and says what answers. */
async function answering(cli: Cli, app: App, model: string): Promise<string> {
  const { environment } = cli.io
  const named = getSetting(environment, 'chat.model')
  if (named.origin === 'file' && named.value !== model) {
    unsetSetting(environment, 'chat.model')
    await recordHere(cli, app, 'settings.unset', 'chat.model')
  }
  note(cli, `aichat: ${model} answers from now on; aichat setup changes it`)
  if (named.origin === 'environment' && named.value !== model)
    note(cli, `aichat: AICHAT_MODEL is set, so that ${named.value} is asked in its place`)
  return model
}
