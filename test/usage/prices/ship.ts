/**
 * Writes src/usage/prices/shipped.json from the data of the development package @pydantic/genai-prices (MIT); its
 * calculator is not used: `npm run prices`, after an update of the package. The same package gives the same bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type MatchLogic, type ModelInfo, type ModelPrice, waitForUpdate } from '@pydantic/genai-prices'
import { type PriceFile, priceFormat } from '../../../src/usage/prices/price-file.ts'
import type { PriceRow } from '../../../src/usage/prices/price-schema.ts'
import { rateText } from '../../../src/usage/prices/rate-text.ts'

/** The provider in the package's data of each plugin. GitHub's models are retired and had no price. */
export const providers = {
  openai: 'openai',
  anthropic: 'anthropic',
  groq: 'groq',
  gemini: 'google',
  mistral: 'mistral',
  openrouter: 'openrouter',
} as const

/** The day on which the release of the package below was published. */
const published = { version: '0.1.8', day: '2026-09-23' }

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

export const shippedPath = `${root}src/usage/prices/shipped.json`

/** The fields of the package's prices, USD per million tokens. Those of searches, pages, hours, pictures and films are left out. */
const fields: Readonly<Record<string, keyof PriceRow['rates']>> = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cached',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  input_audio_mtok: 'audio_input',
  output_audio_mtok: 'audio_output',
  output_reasoning_mtok: 'reasoning',
}

/** The file for the package as it is installed. */
export async function makeShipped(): Promise<PriceFile> {
  const all = (await waitForUpdate()) ?? []
  return {
    format: priceFormat,
    source: `npm @pydantic/genai-prices ${version()}, © Pydantic Services Inc., MIT; see THIRD-PARTY.md`,
    fetched_at: published.day,
    prices: Object.entries(providers).flatMap(([plugin, id]) =>
      all.find((provider) => provider.id === id)!.models.flatMap((model) => rowsOf(plugin, model)),
    ),
  }
}

/** The text of the file: a price a line, so that a change is seen. */
export function shippedText({ prices, ...head }: PriceFile): string {
  const lines = prices.map((row) => JSON.stringify(row)).join(',\n')
  return `${JSON.stringify(head).slice(0, -1)},"prices":[\n${lines}\n]}\n`
}

function version(): string {
  const path = `${root}node_modules/@pydantic/genai-prices/package.json`
  const { version: installed } = JSON.parse(readFileSync(path, 'utf8'))
  if (installed !== published.version)
    throw new Error(`name the day of @pydantic/genai-prices ${installed} in test/usage/prices/ship.ts`)
  return installed
}

/** The rows of a model, one for each date at which its price changed; none for a model that is not billed by tokens. */
function rowsOf(plugin: string, model: ModelInfo): PriceRow[] {
  const names = namesOf(model, plugin)
  if (!names) return []
  const dated = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  return dated.flatMap(({ prices, constraint }) => {
    const tariff = tariffOf(prices, isGiven(plugin, names.model))
    if (!tariff) return []
    if (constraint && constraint.type !== 'start_date')
      throw new Error(`${model.id} of ${plugin} is priced by the time of day, which the format cannot say`)
    return [{ plugin, ...names, ...tariff, ...(constraint && { valid_from: constraint.start_date }) }]
  })
}

/** Whether a model without any price is free: Gemma at Google, and the free variants at OpenRouter. */
function isGiven(plugin: string, model: string): boolean {
  return plugin === 'openrouter' ? model.endsWith(':free') : plugin === 'gemini' && model.startsWith('gemma-')
}

function tariffOf(prices: ModelPrice, isFree: boolean): Pick<PriceRow, 'rates' | 'long' | 'rounded'> | undefined {
  if (Object.keys(prices).length === 0) return isFree ? { rates: { input: '0', output: '0' } } : undefined
  if (prices['input_mtok'] === undefined) return undefined
  const base: Partial<Record<keyof PriceRow['rates'], string>> = {}
  const beyond: Partial<Record<keyof PriceRow['rates'], string>> = {}
  const starts = new Set<number>()
  const inexact: number[] = []
  const text = (usd: number): string => {
    const rate = Math.round(usd * 1e6)
    if (Math.abs(usd * 1e6 - rate) > 1e-6) inexact.push(usd)
    return rateText(rate)
  }
  for (const [name, field] of Object.entries(fields)) {
    const price = prices[name]
    if (price === undefined) continue
    if (typeof price !== 'number') for (const { start } of price.tiers) starts.add(start)
    base[field] = text(typeof price === 'number' ? price : price.base)
    beyond[field] = text(typeof price === 'number' ? price : price.tiers.at(-1)!.price)
  }
  if (starts.size > 1) throw new Error('a model has more than one threshold, which the format cannot say')
  const [above] = starts
  return {
    rates: base as PriceRow['rates'],
    ...(above !== undefined && { long: { above, rates: beyond as PriceRow['rates'] } }),
    ...(inexact.length > 0 && { rounded: true }),
  }
}

/** The names and patterns of a model; undefined where the plugin has no such model. */
function namesOf(model: ModelInfo, plugin: string): Pick<PriceRow, 'model' | 'also' | 'except'> | undefined {
  // Audio costs sixteen times the text, which the data leaves out; tokens of pictures and films are not told apart by us.
  if (/audio/.test(model.id) && !('input_audio_mtok' in model.prices)) return undefined
  if ('output_image_mtok' in model.prices || 'output_video_mtok' in model.prices) return undefined
  const except: string[] = []
  const found = [...new Set(patternsOf(model.match, except))].map((name) => name.toLowerCase())
  // OpenRouter's names begin with that of the author; a tilde marks an alias.
  const names = plugin === 'openrouter' ? found.filter((name) => name.includes('/')) : found
  const [first = ''] = names
  if (first === '') return undefined
  const own = names.includes(model.id) ? model.id : first
  const also = names.filter((name) => name !== own)
  return { model: own, ...(also.length > 0 && { also }), ...(except.length > 0 && { except }) }
}

/** The patterns of names that a rule of the package means; those that it excludes are added to `except`. */
export function patternsOf(match: MatchLogic, except: string[]): string[] {
  if ('or' in match) return match.or.flatMap((each) => patternsOf(each, except))
  if ('equals' in match) return [match.equals]
  if ('starts_with' in match) return [`${match.starts_with}*`]
  if ('ends_with' in match) return [`*${match.ends_with}`]
  if ('contains' in match) return [`*${match.contains}*`]
  if ('and' in match) {
    const [wanted, not] = match.and
    if (match.and.length === 2 && not && 'regex' in not && not.regex === withoutSpeech) {
      except.push('*-tts', '*-tts-*')
      return patternsOf(wanted!, except)
    }
  }
  if ('regex' in match) {
    const plain = match.regex
      .replace(/^\^/, '')
      .replace(/\\d\{(\d)\}/g, (_, count) => '#'.repeat(Number(count)))
      .replaceAll('\\d', '#')
      .replaceAll('\\.', '.')
    const pattern = plain.endsWith('$') ? plain.slice(0, -1) : `${plain}*`
    if (/^[\w./#*-]+$/.test(pattern)) return [pattern]
  }
  throw new Error(`no pattern says ${JSON.stringify(match)}`)
}

/** The one look-ahead of the data. */
const withoutSpeech = '^(?!.*-[tT][tT][sS](?:$|-))'

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(shippedPath, shippedText(await makeShipped()))
