import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import type { PluginManifest } from '../../plugins/plugins.ts'
import { serverUrl } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { askTerminal } from '../terminal/prompts.ts'
import { askKey, type Tried, tryOut } from './provider.ts'

/** Asks an OpenAI-like server for models, also below `/v1`. Throws `usage` for no address, `forbidden` for no key. */
export async function tryServer(cli: Cli, app: App, address: string, key: string | undefined): Promise<Tried> {
  const base = serverUrl(address.trim()).replace(/\/(?:chat\/completions|models)$|\/$/, '')
  const bases = /\/v\d\w*$/.test(base) ? [base] : [`${base}/v1`, base]
  let failure: unknown
  for (const each of bases) {
    const { model_map: _none, ...document } = documentOf(app, each, key !== undefined)
    const manifest = { ...app.plugins.validate({ ...document, model_map: ['unknown'] }), model_map: [] }
    try {
      return await tryOut(cli, app, manifest, key)
    } catch (reason) {
      failure ??= reason
      if (!(reason instanceof AppError) || reason.code !== 'protocol') throw reason
    }
  }
  throw failure
}

/** Asks for an address until a server answers there, and for its key where it wants one. */
export async function askServer(cli: Cli, app: App): Promise<Tried> {
  for (;;) {
    const address = await askTerminal<string>(cli, {
      type: 'input',
      message: 'Its address, such as http://127.0.0.1:8080/v1:',
      validate: (text) => text.trim() !== '' || 'Type an address, or end with Ctrl-C',
    })
    try {
      return await tryServer(cli, app, address, undefined).catch(async (reason: unknown) => {
        if (!(reason instanceof AppError) || reason.code !== 'forbidden') throw reason
        return tryServer(cli, app, address, await askKey(cli, 'The server wants a key:'))
      })
    } catch (reason) {
      if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
      cli.io.err(`aichat: ${reason.message}`)
    }
  }
}

/** The plugin document of a server; one that is here already for this address keeps its fields. */
function documentOf(app: App, base: string, hasKey: boolean): PluginManifest {
  const { host, hostname } = new URL(base)
  const place = host.replace(/^(?:127\.0\.0\.1|\[::1\])/, 'localhost').replace(/[^a-z0-9.]+/g, '-')
  const endpoint = `${base}/chat/completions`
  const known = app.plugins.list().filter(({ id }) => id === place || id.startsWith(`${place}-`))
  const same = known.find((plugin) => plugin.endpoint === endpoint)
  const id = same?.id ?? (known.length === 0 ? place : `${place}-${known.length + 1}`)
  const variable = `SERVER_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_API_KEY`
  return {
    schema_version: 1,
    name: host,
    type: 'completion',
    api: 'openai-chat',
    description: `The server at ${hostname}, written by aichat setup.`,
    ...(same && app.plugins.export(id)),
    id,
    endpoint,
    auth: hasKey
      ? { header: 'Authorization', prefix: 'Bearer ', key_env: variable }
      : (same?.auth ?? { header: '', key_env: '' }),
    model_map: [],
    models_source: { url: `${base}/models`, items: 'data', id: 'id', drop: ['embed|whisper|tts|rerank'] },
  }
}
