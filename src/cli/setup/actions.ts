import type { App } from '../../app/app.ts'
import { getSetting, setSetting } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { type NewUserOptions, setUpAdministrator } from '../account/actions.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { askTerminal, canAsk } from '../terminal/prompts.ts'
import { recordHere } from '../terminal/record.ts'
import { labelled } from '../terminal/table.ts'
import { askModelOf, chooseSource } from './ask.ts'
import { chooseModel, namedModel, usualModel } from './choose-model.ts'
import { type Found, look, withApp } from './found.ts'
import { keepLocal, keepProvider } from './keep.ts'
import { namedOllamaModel } from './local.ts'
import { askProvider, idOfKey, pipedKey, refuseKeyOfOther, type Tried, tryOut } from './provider.ts'
import { tryServer } from './server.ts'

export interface SetUpOptions extends NewUserOptions {
  readonly provider?: string
  readonly keyStdin?: boolean
  readonly address?: string
  readonly model?: string
  readonly account?: boolean
  readonly email?: string
}

/**
 * Has a model answer: as the options say, or as the user is asked at a terminal; with --json alone prints what is set. With the
 * options of an account, or where commands go to a daemon, creates the administrator.
 */
export async function setUp(cli: Cli, options: SetUpOptions): Promise<void> {
  const { provider, keyStdin, address, model, account, username, email, passwordStdin } = options
  const namesModel = [provider, keyStdin, address, model].some((value) => value !== undefined)
  const namesAccount = [account, username, email, passwordStdin].some((value) => value !== undefined)
  if (namesModel && namesAccount)
    throw new AppError(
      'usage',
      'Set up the model and the account one after the other: their options exclude each other',
    )
  if (address !== undefined && provider !== undefined)
    throw new AppError('usage', 'Use either --provider or --address, not both')
  const target = await findServer(cli)
  if (namesAccount || (target && !namesModel)) return setUpAdministrator(cli, options)
  if (target)
    throw new AppError('usage', `Keys are kept on the machine that uses them, and commands go to ${target.url}`, {
      details: ['Run this there, or add --local to set up this machine'],
    })
  const isAsked = !cli.globals().json && (await canAsk(cli))
  if (!namesModel && !isAsked && !cli.globals().json)
    throw new AppError('usage', 'Cannot ask without a terminal: add --provider, --address or --model, or --account')
  await withApp(cli, async (app) => {
    const found = await look(cli, app)
    if (namesModel) await byOptions(cli, app, found, options)
    else if (isAsked && (await byQuestions(cli, app, found)) === 'account') return setUpAdministrator(cli, {})
    await print(cli, stateOf(app, await look(cli, app)), ({ model }) => model ?? '')
  })
}

/** What is set, as --json prints it. */
function stateOf(app: App, { active, ollama, model }: Found) {
  const variable = active?.auth.key_env || null
  return {
    model: model ?? null,
    provider: active
      ? {
          id: active.id,
          name: active.name,
          key: variable,
          key_from: variable === null ? null : (app.keys.originOf(variable) ?? null),
        }
      : null,
    local_runner: { url: ollama.url, reachable: ollama.reachable, models: ollama.models.map(({ name }) => name) },
  }
}

async function byOptions(cli: Cli, app: App, found: Found, options: SetUpOptions): Promise<string> {
  const { address, model, keyStdin } = options
  const key = keyStdin ? await pipedKey(cli) : undefined
  const id = options.provider ?? (key && idOfKey(found, key)) ?? providerIn(model, found)
  if (address === undefined && (id === 'local' || (id === 'ollama' && !found.providers.some((each) => each.id === id))))
    return localByOptions(cli, app, found, model)
  const tried =
    address === undefined ? await providerByOptions(cli, app, found, id, key) : await tryServer(cli, app, address, key)
  return keepProvider(cli, app, tried, await modelByOptions(cli, app, tried, model))
}

/** The provider of a model's name, else the active one; `local` for a model on this machine. */
function providerIn(model: string | undefined, { providers, active }: Found): string | undefined {
  const [before, ...rest] = model?.split(':') ?? []
  const isNamed = rest.length > 0 && (before === 'local' || providers.some(({ id }) => id === before))
  return isNamed ? before : active?.id
}

async function localByOptions(cli: Cli, app: App, found: Found, asked: string | undefined): Promise<string> {
  const name = asked?.replace(/^local:/, '')
  if (name !== undefined && found.pulled.includes(name)) return keepLocal(cli, app, name)
  const first = name ?? found.ollama.models[0]?.name
  if (first === undefined && found.ollama.reachable)
    throw new AppError('usage', `Ollama has no model at ${found.ollama.url}: add --model NAME, which it will download`)
  return keepLocal(cli, app, await namedOllamaModel(cli, app, found, first ?? ''))
}

async function providerByOptions(cli: Cli, app: App, found: Found, id?: string, key?: string): Promise<Tried> {
  if (id === undefined)
    throw new AppError('usage', 'No provider is active, and the key does not tell its own: add --provider')
  const view = app.plugins.get(id)
  const manifest = app.plugins.export(id)
  if (key !== undefined) refuseKeyOfOther(found, manifest, key)
  if (key !== undefined || view.key_set) return tryOut(cli, app, manifest, key)
  if (!(await canAsk(cli)) || cli.globals().json)
    throw new AppError('configuration', `${manifest.auth.key_env} is not set, which ${manifest.name} needs`, {
      details: ['Pipe the key in with --key-stdin'],
    })
  const tried = await askProvider(cli, app, found, manifest)
  if (!tried) throw new AppError('unavailable', 'Nothing was changed')
  return tried
}

async function modelByOptions(cli: Cli, app: App, { manifest }: Tried, asked: string | undefined): Promise<string> {
  if (asked !== undefined) return namedModel(manifest, asked)
  return !cli.globals().json && (await canAsk(cli)) ? chooseModel(cli, app, manifest) : usualModel(manifest)
}

/** Shows what is set, and asks what to change; where nothing answers yet, asks for that at once. */
async function byQuestions(cli: Cli, app: App, found: Found): Promise<'account' | undefined> {
  const { active, ollama, model } = found
  const origin = active && active.auth.key_env !== '' ? app.keys.originOf(active.auth.key_env) : undefined
  note(
    cli,
    labelled([
      ['Model', model ?? 'none answers yet'],
      ['Provider', active && `${active.name}${origin ? `, key from the ${origin}` : ''}`],
      ['Ollama', ollama.reachable ? `at ${ollama.url}` : undefined],
    ]),
  )
  if (model === undefined) return void (await chooseSource(cli, app, found))
  const keyed = active && (origin === 'keychain' || origin === 'file') ? active : undefined
  const choices = [
    { value: 'model', name: 'Another model' },
    ...(keyed ? [{ value: 'key', name: `Another key for ${keyed.name}` }] : []),
    { value: 'source', name: 'Another provider, a server, or a model on this machine' },
    ...(getSetting(cli.io.environment, 'chat.titles').value === 'words'
      ? [{ value: 'titles', name: 'Titles of conversations: from the model, for some hundred tokens each' }]
      : []),
    { value: 'account', name: 'An administrator, for a daemon that others use' },
    { value: 'nothing', name: 'Nothing' },
  ]
  const change = await askTerminal<string>(cli, { type: 'select', message: 'What shall change?', choices })
  if (change === 'account') return 'account'
  if (change === 'model') await askModelOf(cli, app, found)
  if (change === 'titles') {
    setSetting(cli.io.environment, 'chat.titles', 'model')
    await recordHere(cli, app, 'settings.set', 'chat.titles')
    note(cli, 'aichat: the model names new conversations from now on; aichat config unset chat.titles ends that')
  }
  const tried = change === 'key' ? await askProvider(cli, app, found, app.plugins.export(keyed!.id)) : undefined
  if (tried) await keepProvider(cli, app, tried, usualModel(tried.manifest))
  if (change === 'source') await chooseSource(cli, app, found)
  return undefined
}
