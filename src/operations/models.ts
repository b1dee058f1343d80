import { z } from 'zod'
import { serverOfWeights } from '../../speech/speech.ts'
import { permitsOf } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { modelFacts, type PluginView, type RefreshRequest, type RefreshRow } from '../plugins/plugins.ts'
import { queryFlag } from './input.ts'
import { type Call, defineOperation } from './operation.ts'
import { changesPlugins } from './plugins.ts'

export const modelRow = z.object({
  id: z.string(),
  /** The name for chats, or for a persona's embedding model. */
  name: z.string(),
  /** The plugin that offers it, or null for a model on this machine. */
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  type: z.enum(['chat', 'embedding', 'tts']),
  default: z.boolean(),
  /** The size on the disk, of a model on this machine. */
  bytes: z.exactOptional(z.int()),
  ...modelFacts.shape,
})

export const listModels = defineOperation({
  name: 'models.list',
  failures: [404],
  route: 'GET /api/models',
  access: 'user',
  scope: 'models',
  impersonal: true,
  summary:
    'Lists the models of the plugins, those with their key first, from their stored lists; with `installed`, those on this machine.',
  input: z.object({
    plugin: z.exactOptional(z.string()),
    installed: queryFlag,
  }),
  output: z.object({ models: z.array(modelRow) }),
  run: async (call, query) => ({ models: await modelRows(call, query) }),
})

/** The models of the plugins or of one, or those on this machine, as far as the caller's key permits them. */
export async function modelRows(
  { app, caller }: Pick<Call, 'app' | 'caller'>,
  { plugin, installed = false }: { readonly plugin?: string; readonly installed?: boolean },
): Promise<z.output<typeof modelRow>[]> {
  // A key that is bound to personas can name no model.
  if (caller.key?.personas) return []
  const permits = permitsOf(caller.key) ?? (() => true)
  const allowed = (row: z.output<typeof modelRow>) => permits({ plugin: row.plugin, model: row.id })
  if (installed) return (await installedModels(app)).filter(allowed)
  const plugins = plugin === undefined ? byUse(app.plugins.list()) : [app.plugins.get(plugin)]
  const listed = plugins.flatMap((view) =>
    view.model_map.map((id) => ({
      id,
      name: `${view.id}:${id}`,
      plugin: view.id,
      runner: null,
      type: view.type === 'completion' ? ('chat' as const) : view.type,
      default: id === (view.default_model ?? view.model_map[0]),
      ...app.facts.of(view, id),
    })),
  )
  return listed.filter(allowed)
}

/** The plugins with those that can answer first, of these the ones that chat. */
function byUse(plugins: readonly PluginView[]): readonly PluginView[] {
  const rank = ({ state, type }: PluginView) => (state === 'ready' ? Number(type === 'tts') : 2)
  return plugins.toSorted((one, other) => rank(one) - rank(other))
}

/** The models of the model runner, and the pulled ones. */
async function installedModels(app: App): Promise<z.output<typeof modelRow>[]> {
  const [{ ollama, embedded }, { hub }] = [await app.chat(), await app.models()]
  const names = (await ollama.models()) ?? []
  const preferred = embedded.target(undefined)?.model
  return [
    ...names.map(({ name, embedding, row }) => ({
      id: name,
      name: embedding ? name : `local:${name}`,
      plugin: null,
      runner: 'ollama',
      type: embedding ? ('embedding' as const) : ('chat' as const),
      default: name === app.settings.localModel,
      ...(Number.isSafeInteger(row['size']) && { bytes: row['size'] as number }),
    })),
    ...hub.installed().map(({ name, kind, bytes }) => ({
      id: name,
      name: kind === 'chat' ? `local:${name}` : name,
      plugin: null,
      runner: kind === 'tts' ? serverOfWeights(name) : 'embedded',
      type: kind,
      // The model runner has precedence over pulled models.
      default: name === preferred && names.length === 0,
      bytes,
    })),
  ]
}

const refreshRow = z.looseObject({
  plugin: z.string(),
  before: z.int(),
  after: z.int(),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  /** The file of the previous list; null where none was written. */
  backup: z.string().nullable(),
  skipped: z.string().nullable(),
  /** The failure of its refresh; the old list is in use. */
  error: z.string().nullable(),
  warnings: z.array(z.string()),
})

/** A chunk of a streamed refresh: first the number of lists, then the row of each. */
export type RefreshPiece = { readonly total: number } | { readonly row: RefreshRow }

export const refreshModels = defineOperation({
  name: 'models.refresh',
  failures: [404, 502, 504],
  route: 'POST /api/models/refresh',
  ...changesPlugins,
  summary:
    'Fetches model lists from their providers: of the named plugins, or of all that are not retired and have a key. An implausible list leaves the old one in use.',
  input: z.strictObject({
    plugins: z.exactOptional(z.array(z.string()).min(1, 'must name at least one plugin').max(1000)),
    dry_run: z.boolean().default(false),
    force: z.boolean().default(false),
    stream: z.boolean().default(false),
  }),
  output: z.object({ plugins: z.array(refreshRow) }),
  run: async ({ app, signal }, input) => {
    const { lists } = await app.models()
    const request = refreshRequest(input)
    const order = lists.plan(request)
    const rows: RefreshRow[] = []
    for await (const row of lists.refresh(request, signal)) rows.push(row)
    rows.sort((a, b) => order.indexOf(a.plugin) - order.indexOf(b.plugin))
    return { plugins: rows }
  },
  stream: {
    wanted: (input) => input.stream,
    run: async ({ app, signal }, input) => {
      const { lists } = await app.models()
      const request = refreshRequest(input)
      const total = lists.plan(request).length
      return { chunks: refreshChunks(total, lists.refresh(request, signal)) }
    },
  },
})

async function* refreshChunks(total: number, rows: AsyncIterable<RefreshRow>): AsyncGenerator<RefreshPiece> {
  yield { total }
  for await (const row of rows) yield { row }
}

function refreshRequest(input: { plugins?: string[]; dry_run: boolean; force: boolean }): RefreshRequest {
  return { plugins: input.plugins, dryRun: input.dry_run, force: input.force }
}

export const restoreModels = defineOperation({
  name: 'models.restore',
  failures: [404],
  route: 'POST /api/models/restore',
  ...changesPlugins,
  summary: "Restores a plugin's model list from before the last change.",
  input: z.object({ plugin: z.string() }),
  output: refreshRow,
  run: async ({ app }, { plugin }) => (await app.models()).lists.restore(plugin),
})

export const modelOperations = [listModels, refreshModels, restoreModels]
