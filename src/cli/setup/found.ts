import { type App, getSetting, openApp } from '../../app/app.ts'
import { listModels, listPlugins } from '../../operations/operations.ts'
import type { PluginManifest, PluginView } from '../../plugins/plugins.ts'
import type { Cli } from '../terminal/cli.ts'

/** What this installation has for chats. */
export interface Found {
  /** The plugins that chat and are not retired. */
  readonly providers: readonly PluginView[]
  readonly active: PluginView | undefined
  readonly ollama: {
    readonly url: string
    readonly reachable: boolean
    /** Its chat models, with their sizes. */
    readonly models: readonly { readonly name: string; readonly bytes: number | undefined }[]
  }
  /** The pulled models that chat in this process. */
  readonly pulled: readonly string[]
  /** The model that answers a question without -m, as -m names it; undefined where none does. */
  readonly model: string | undefined
}

/** Looks at the plugins, the local runner and the settings as they are now. */
export async function look(cli: Cli, app: App): Promise<Found> {
  const { ollama: runner, embedded } = await app.chat()
  runner.refresh()
  const installed = await runner.models()
  const models = (installed ?? [])
    .filter(({ embedding }) => !embedding)
    .map(({ name, row }) => ({ name, bytes: Number.isSafeInteger(row['size']) ? Number(row['size']) : undefined }))
  const providers = app.plugins.list().filter((plugin) => chats(plugin) && plugin.state !== 'retired')
  const active = app.plugins.list().find((plugin) => chats(plugin) && plugin.active)
  const pulled = embedded.models()
  const named = getSetting(cli.io.environment, 'chat.model').value
  const preferred = getSetting(cli.io.environment, 'local.model').value
  const here = models.find(({ name }) => isNamed(name, preferred)) ?? models[0]
  const local = here?.name ?? pulled[0]
  const ready = active?.key_set ? `${active.id}:${active.default_model ?? active.model_map[0]}` : undefined
  const answering = ready ?? (local === undefined ? undefined : `local:${local}`)
  return {
    providers,
    active,
    ollama: { url: runner.url, reachable: installed !== undefined, models },
    pulled,
    model: answering && named !== '' ? named : answering,
  }
}

/** Whether Ollama means this model by a name: `llama3` is `llama3:latest`. */
export function isNamed(model: string, name: string): boolean {
  return model === name || model === `${name}:latest`
}

/** Whether a plugin or a model on this machine would answer this model's name, or a question that names none. */
export async function canAnswer(cli: Cli, model: string | undefined): Promise<boolean> {
  const { plugins } = await cli.ask(listPlugins, {})
  const named = plugins.find(({ id }) => model?.startsWith(`${id}:`))
  const plugin = named ?? plugins.find((each) => chats(each) && each.active)
  if (plugin?.key_set) return true
  const { models } = await cli.ask(listModels, { installed: true })
  return models.some(({ type }) => type === 'chat')
}

/** Does something with the core in this process. */
export async function withApp<T>(cli: Cli, work: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp(await cli.settings())
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

function chats({ type }: Pick<PluginManifest, 'type'>): boolean {
  return type === 'chat' || type === 'completion'
}
