import { z } from 'zod'
import type { App } from '../app/app.ts'
import { hostOf, isObject, type JsonObject, objectOf, stringOf, unknownPlugin } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { suggestion } from '../formats/formats.ts'
import { abilitiesOf, factsOfShow, type PluginView, windowSources } from '../plugins/plugins.ts'
import { rateText } from '../usage/usage.ts'
import { modelRow, modelRows } from './models.ts'
import { type Call, defineOperation } from './operation.ts'

const details = z.object({
  ...modelRow.shape,
  /** The facts of a model on this machine, as its runner tells them. */
  bytes: z.exactOptional(z.int()),
  family: z.exactOptional(z.string()),
  parameter_size: z.exactOptional(z.string()),
  quantization: z.exactOptional(z.string()),
  format: z.exactOptional(z.string()),
  /** Where the window is from; absent where it is unknown. */
  context_source: z.exactOptional(z.enum(windowSources)),
  /** Input and output that the model supports; empty where unknown. */
  capabilities: z.array(z.string()),
  /** The first lines of its licence. */
  licence: z.exactOptional(z.string()),
  /** The host that its requests go to; absent for one that computes in aichat itself. */
  host: z.exactOptional(z.string()),
  /** The service that the local runner forwards it to. */
  forwarded_to: z.exactOptional(z.string()),
  state: z.exactOptional(z.string()),
  /** USD per million tokens. */
  price: z.exactOptional(
    z.object({
      source: z.string(),
      input: z.string(),
      output: z.exactOptional(z.string()),
      cached: z.exactOptional(z.string()),
    }),
  ),
})

export const showModel = defineOperation({
  name: 'models.show',
  failures: [404],
  route: 'GET /api/models/show',
  access: 'user',
  scope: 'models',
  impersonal: true,
  summary:
    'Shows a model: context, price and capabilities of one of a plugin, and size, quantisation, family and licence of one on this machine.',
  input: z.object({
    model: z
      .string()
      .min(1, 'must name a model')
      .max(300)
      .meta({ description: 'As a chat names it: plugin:model, local:NAME, or a name.' }),
  }),
  output: details,
  run: async (call, { model }) => {
    const row = await find(call, model)
    return row.plugin === null ? localDetails(call.app, row) : pluginDetails(call.app, row, row.plugin)
  },
})

type Row = z.output<typeof modelRow>

/** The model of a name: that of its plugin or runner, of the active plugin, of this machine, or of the only plugin that has it. */
async function find(call: Call, asked: string): Promise<Row> {
  const listed = await modelRows(call, {})
  const address = listed.find(({ name }) => name === asked)
  if (address) return address
  const all = [...listed, ...(await modelRows(call, { installed: true }))]
  const active = call.app.plugins
    .list()
    .filter(({ active }) => active)
    .map(({ id }) => id)
  const exact = all.find(({ name }) => name === asked || name === `${asked}:latest`)
  const named = all.filter(({ id }) => id === asked || id === `${asked}:latest`)
  const preferred = named.find(({ plugin }) => plugin !== null && active.includes(plugin))
  const found =
    exact ?? preferred ?? named.find(({ plugin }) => plugin === null) ?? (named.length === 1 ? named[0] : undefined)
  if (found) return found
  const shown = asked.slice(0, 100)
  if (named.length > 1)
    throw new AppError('not_found', `Several plugins have a model "${shown}"`, {
      details: named.map(({ name }) => `aichat models show ${name}`),
    })
  const plugins = call.app.plugins.list()
  const hasPlugin = plugins.some(({ id }) => asked.startsWith(`${id}:`))
  const unknown = hasPlugin ? undefined : unknownPlugin(asked, plugins)
  if (unknown?.isCertain) throw unknown.error
  const names = all.flatMap(({ id, name }) => [name, id])
  throw new AppError('not_found', `Model "${shown}" not found${suggestion(asked, names)}`, {
    details: ['`aichat models list` and `aichat models list --installed` show them'],
  })
}

async function pluginDetails(app: App, row: Row, plugin: string): Promise<z.output<typeof details>> {
  const view = app.plugins.get(plugin)
  const facts = objectOf(view.models?.[row.id])
  const source = app.facts.windowSource(view, row.id)
  const prices = await app.prices()
  const price = prices.priceFor(plugin, row.id)
  const { input, output, cached } = price?.rates ?? {}
  return {
    ...row,
    ...(source !== undefined && { context_source: source }),
    capabilities: namesIn(facts['capabilities']) ?? [...usualCapabilities(view), ...(abilitiesOf(row) ?? [])],
    ...texts({ licence: facts['license'] ?? facts['licence'] }),
    host: hostOf(view.endpoint),
    state: view.state,
    ...(price && {
      price: {
        source: price.source,
        input: rateText(input ?? 0),
        ...(output !== undefined && { output: rateText(output) }),
        ...(cached !== undefined && { cached: rateText(cached) }),
      },
    }),
  }
}

async function localDetails(app: App, row: Row): Promise<z.output<typeof details>> {
  if (row.runner !== 'ollama') {
    const { hub } = await app.models()
    const known = hub.known.get(row.id)
    return {
      ...row,
      ...texts({ display_name: known?.summary, licence: known?.licence }),
      ...windowOf((await app.chat()).embedded.target(row.id)?.contextTokens),
      capabilities: row.type === 'chat' ? ['completion'] : [row.type],
      format: 'onnx',
    }
  }
  const { ollama } = await app.chat()
  const [shown, known] = [await ollama.show(row.id), (await ollama.models())?.find(({ name }) => name === row.id)]
  const stated = factsOfShow(shown)
  const remote = stringOf(known?.row['remote_host']) ?? (known?.remote ? 'ollama.com' : undefined)
  return {
    ...row,
    ...factsOf({ ...known?.row, details: shown?.['details'] ?? known?.row['details'] }),
    ...stated,
    ...(stated.context_window !== undefined && { context_source: 'runner' as const }),
    capabilities: namesIn(shown?.['capabilities']) ?? [row.type === 'chat' ? 'completion' : row.type],
    ...texts({ licence: licenceOf(shown?.['license']) }),
    host: hostOf(ollama.url),
    ...(remote !== undefined && { forwarded_to: hostOf(remote) }),
  }
}

function windowOf(context: unknown): { context_window?: number; context_source?: 'runner' } {
  const isStated = typeof context === 'number' && Number.isSafeInteger(context) && context > 0
  return isStated ? { context_window: context, context_source: 'runner' } : {}
}

/** The facts in a row of the runner's list. */
function factsOf(row: JsonObject) {
  const { family, parameter_size, quantization_level, format } = objectOf(row['details'])
  const bytes = row['size']
  return {
    ...(Number.isSafeInteger(bytes) && (bytes as number) >= 0 && { bytes: bytes as number }),
    ...texts({ family, parameter_size, quantization: quantization_level, format }),
  }
}

/** The longest fact that is shown: characters. */
const longestFact = 200

function texts<K extends string>(values: Readonly<Record<K, unknown>>): { [key in K]?: string } {
  const entries = Object.entries(values).filter(([, value]) => typeof value === 'string' && value !== '')
  return Object.fromEntries(entries.map(([key, value]) => [key, (value as string).slice(0, longestFact)])) as never
}

/** The first two lines of a licence: its name and version. */
function licenceOf(text: unknown): string | undefined {
  const lines = stringOf(text)
    ?.slice(0, 2_000)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return lines?.slice(0, 2).join(', ')
}

function namesIn(list: unknown): string[] | undefined {
  if (isObject(list))
    return Object.keys(list)
      .filter((name) => list[name] === true)
      .slice(0, 50)
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string').slice(0, 50) : undefined
}

/** A provider's list names no capabilities: those usual for the plugin's type stand in. */
function usualCapabilities({ type }: PluginView): string[] {
  return [type === 'embedding' || type === 'tts' ? type : 'completion']
}
