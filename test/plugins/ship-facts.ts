/**
 * Writes src/plugins/shipped-facts.json: `AICHAT_TEST_DATA=FOLDER npm run model-facts`. The facts are those that the recorded
 * lists of the providers state of the models of the bundled plugins; where a list states no window, the data of the
 * development package @pydantic/genai-prices (MIT) does. OpenAI's list has names alone: what its models take and do is read
 * from OpenRouter's list of the same models. The same data gives the same bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { waitForUpdate } from '@pydantic/genai-prices'
import { type ModelRow, nameOf, rowsOf } from '../../src/plugins/catalog.ts'
import type { ShippedFacts } from '../../src/plugins/facts.ts'
import { hostIn, shippedAt } from '../../src/plugins/facts.ts'
import { factsOfRow } from '../../src/plugins/listed-facts.ts'
import { type PluginManifest, pluginManifest } from '../../src/plugins/manifest.ts'
import type { ModelFacts } from '../../src/plugins/model-facts.ts'
import { patternsOf, providers } from '../usage/prices/ship.ts'

/** The recorded list of each plugin, below `cassettes`. */
export const lists: Readonly<Record<string, string>> = {
  openai: 'openai/list-models.json',
  anthropic: 'anthropic/list-models.json',
  groq: 'groq/list-models.json',
  gemini: 'gemini/list-models.json',
  mistral: 'mistral/list-models.json',
  github: 'github/list-models.json',
  openrouter: 'openrouter/list-models-2025.json',
}

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

export const shippedPath = join(root, 'src/plugins/shipped-facts.json')

/** The day of the package's data, see test/usage/prices/ship.ts. */
const pricesDay = '2026-09-23'

/** The bundled plugin of an id. */
export function bundled(id: string): PluginManifest {
  return pluginManifest.parse(JSON.parse(readFileSync(join(root, 'plugins', `${id}.json`), 'utf8')))
}

function recorded(data: string, id: string): readonly ModelRow[] {
  const { exchanges } = JSON.parse(readFileSync(join(data, 'cassettes', lists[id]!), 'utf8'))
  return rowsOf(JSON.parse(exchanges[0].response.body), bundled(id).models_source!) ?? []
}

/** The table for the recorded lists in a folder of test data. */
export async function makeShippedFacts(data: string): Promise<ShippedFacts> {
  const packaged = await packagedWindows()
  const elsewhere = byName('openrouter', recorded(data, 'openrouter'))
  const hosts: Record<string, Record<string, ModelFacts>> = {}
  const sources: Record<string, string> = {}
  for (const id of Object.keys(lists)) {
    const { endpoint, model_map: models, models_as_of: day } = bundled(id)
    const { host } = new URL(endpoint)
    const stated = byName(id, recorded(data, id))
    sources[host] =
      `the provider's list, ${day}; windows that it does not state: npm @pydantic/genai-prices, ${pricesDay}`
    hosts[host] = {}
    for (const model of models) {
      const { display_name: _name, ...own } = stated.get(model) ?? {}
      const {
        display_name: _other,
        context_window: _window,
        max_output: _most,
        ...alike
      } = (id === 'openai' && elsewhere.get(`openai/${model}`)) || {}
      const window = own.context_window ?? shippedAt(table(host, packaged(id)), hostIn(endpoint), model).context_window
      const facts = { ...alike, ...own, ...(window !== undefined && { context_window: window }) }
      if (Object.keys(facts).length > 0) hosts[host][model.toLowerCase()] = facts
    }
    // A list that states no windows, as OpenAI's, brings the names of new models alone.
    const isSilent = [...stated.values()].every(({ context_window: window }) => window === undefined)
    for (const [pattern, context_window] of isSilent ? packaged(id) : []) hosts[host][pattern] ??= { context_window }
  }
  return { format: 'aichat-models/1', sources, hosts }
}

/** The text of the file: a model a line, so that a change is seen. */
export function factsText({ hosts, ...head }: ShippedFacts): string {
  const parts = Object.entries(hosts).map(([host, models]) => {
    const lines = Object.entries(models).map(([name, facts]) => `${JSON.stringify(name)}:${JSON.stringify(facts)}`)
    return `${JSON.stringify(host)}:{\n${lines.join(',\n')}\n}`
  })
  return `${JSON.stringify(head).slice(0, -1)},"hosts":{\n${parts.join(',\n')}\n}}\n`
}

/** The package's windows of a host, as a table of their own. */
function table(host: string, windows: ReadonlyMap<string, number>): ShippedFacts {
  const facts = [...windows].map(([pattern, context_window]) => [pattern, { context_window }] as const)
  return { format: 'aichat-models/1', sources: {}, hosts: { [host]: Object.fromEntries(facts) } }
}

function byName(id: string, rows: readonly ModelRow[]): ReadonlyMap<string, ModelFacts> {
  const source = bundled(id).models_source!
  return new Map(rows.flatMap((row) => [[nameOf(row, source) ?? '', factsOfRow(row)] as const]))
}

/** The windows that the package states, by the names and patterns of a plugin's models. */
async function packagedWindows(): Promise<(plugin: string) => ReadonlyMap<string, number>> {
  const all = (await waitForUpdate()) ?? []
  return (plugin) => {
    const id = Object.hasOwn(providers, plugin) ? providers[plugin as keyof typeof providers] : undefined
    const models = all.find((provider) => provider.id === id)?.models ?? []
    return new Map(
      models.flatMap(({ match, context_window: window }) =>
        window ? patternsOf(match, []).map((pattern) => [pattern.toLowerCase(), window] as const) : [],
      ),
    )
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const data = process.env['AICHAT_TEST_DATA']
  if (data === undefined) throw new Error('set AICHAT_TEST_DATA to the folder with the recorded lists')
  writeFileSync(shippedPath, factsText(await makeShippedFacts(data)))
}
