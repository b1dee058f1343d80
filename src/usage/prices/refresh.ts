import { AppError, type FailureCode, toAppError } from '../../errors.ts'
import { counted } from '../../formats/counted.ts'
import { type ModelRow, nameOf } from '../../plugins/catalog.ts'
import type { PluginHost, PluginView } from '../../plugins/host.ts'
import { type Listing, several } from '../../plugins/listing.ts'
import { isModelName, type ModelsSource } from '../../plugins/manifest.ts'
import type { Price, Rates } from './price.ts'
import { type PriceFile, priceOf, rowOf } from './price-file.ts'
import { keyText, type Prices } from './prices.ts'
import { ratePerToken } from './rate-text.ts'

export interface PriceRefreshRequest {
  /** The plugins by id; without them all that have a list of models, but for those that are retired or lack their key. */
  readonly plugins?: readonly string[] | undefined
  /** Compares, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** Takes prices that are half as many as before, or most of which changed tenfold. */
  readonly force?: boolean | undefined
}

/** The result for one plugin. Where it failed or was skipped, the prices before are still whole and in use. */
export interface PriceRefreshRow {
  readonly plugin: string
  /** How many refreshed prices there were, and are now. */
  readonly before: number
  readonly after: number
  /** Names of models. */
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly written: boolean
  /** Why it was left out, or null. */
  readonly skipped: string | null
  /** Why it failed, or null. */
  readonly error: string | null
  readonly code?: FailureCode
  readonly warnings: readonly string[]
}

export interface PriceRefresh {
  /** The plugins that will be asked. Throws as `refresh` does before it begins. */
  plan(request: PriceRefreshRequest): readonly string[]
  /**
   * Takes the prices from the providers' lists of models, several at once. Throws before anything is fetched: `not_found`
   * for an unknown plugin, `configuration` for a named one without its key, `invalid` for a named one without a list.
   */
  refresh(request: PriceRefreshRequest, signal?: AbortSignal): AsyncIterable<PriceRefreshRow>
  /** Takes them from a file that was validated, for each plugin whole or not at all. `origin` is its name or address. */
  take(file: PriceFile, origin: string, request: PriceRefreshRequest): Promise<readonly PriceRefreshRow[]>
}

export interface PriceRefreshParts {
  readonly listing: Listing
  readonly host: Pick<PluginHost, 'find'>
  readonly prices: Prices
}

/** Refreshes prices under the guards of model lists: bounded, checked, and replaced whole or not at all. */
export function createPriceRefresh({ listing, host, prices }: PriceRefreshParts): PriceRefresh {
  return {
    plan: ({ plugins }) => listing.chosen(plugins).map(({ id }) => id),
    async *refresh(request, signal) {
      const all = request.plugins === undefined
      yield* several(listing.chosen(request.plugins), async (view) => {
        const reason = all ? listing.whySkipped(view) : undefined
        return reason === undefined ? refreshOne(view, request, signal) : { ...unchanged(view.id), skipped: reason }
      })
    },
    async take(file, origin, request) {
      const byPlugin = new Map<string, Price[]>()
      for (const row of file.prices) {
        if (request.plugins?.includes(row.plugin) === false) continue
        const same = byPlugin.get(row.plugin)
        if (same) same.push(priceOf(row))
        else byPlugin.set(row.plugin, [priceOf(row)])
      }
      const rows: PriceRefreshRow[] = []
      for (const plugin of request.plugins ?? byPlugin.keys()) {
        const found = byPlugin.get(plugin)
        const warnings = host.find(plugin) ? [] : [`no plugin ${plugin} is installed`]
        rows.push(
          found
            ? await guarded(plugin, () => put(plugin, found, origin, request, warnings))
            : { ...unchanged(plugin), skipped: 'the file has no price of it' },
        )
      }
      return rows
    },
  }

  function refreshOne(
    view: PluginView,
    request: PriceRefreshRequest,
    signal: AbortSignal | undefined,
  ): Promise<PriceRefreshRow> {
    return guarded(view.id, async () => {
      const source = view.models_source!
      const found = pricesOf(view.id, await listing.rows(view, signal), source)
      if (found.prices.length === 0) {
        const reason = 'its list of models has no prices'
        if (request.plugins === undefined) return { ...unchanged(view.id), skipped: reason }
        throw new AppError('protocol', `${capital(reason)}; take them from a file: aichat prices refresh --from FILE`)
      }
      const warnings =
        found.leftOut > 0 ? [`${counted(found.leftOut, 'model')} left out: the price varies or has another form`] : []
      return put(view.id, found.prices, new URL(source.url).host, request, warnings)
    })
  }

  async function put(
    plugin: string,
    after: readonly Price[],
    origin: string,
    { dryRun, force }: PriceRefreshRequest,
    warnings: readonly string[],
  ): Promise<PriceRefreshRow> {
    const before = await prices.refreshed(plugin)
    if (!force) {
      refuseShrinking(before.length, after.length)
      refuseOtherUnit(after.map((price) => [price, prices.priceFor(plugin, price.model)]))
    }
    const change = difference(before, after)
    const isNew = change.added.length + change.changed.length + change.removed.length > 0
    const written = isNew && dryRun !== true
    if (written) await prices.replace(plugin, after, origin)
    return { ...unchanged(plugin), before: before.length, after: after.length, ...change, written, warnings }
  }

  async function guarded(plugin: string, work: () => Promise<PriceRefreshRow>): Promise<PriceRefreshRow> {
    try {
      return await work()
    } catch (thrown) {
      const { message, details, code } = toAppError(thrown)
      return { ...unchanged(plugin), error: [message, ...details].join('; '), code }
    }
  }
}

const staying = 'the ones before stay in use; if the new ones are right, say --force'

function refuseShrinking(before: number, after: number): void {
  if (after * 2 < before)
    throw new AppError('protocol', `The prices would shrink from ${before} to ${after}`, { details: [staying] })
}

/** So many prices must be compared before a jump of most of them is taken for another unit. */
const fewest = 4

/** A provider that began to write another unit would make every request cost a millionth, or be refused by a budget. */
function refuseOtherUnit(pairs: readonly (readonly [after: Price, before: Price | undefined])[]): void {
  const compared = pairs.filter(([after, before]) => before && after.rates.input > 0 && before.rates.input > 0)
  const jumps = compared.filter(([after, before]) => {
    const factor = after.rates.input / before!.rates.input
    return factor >= 10 || factor <= 0.1
  })
  if (compared.length < fewest || jumps.length * 2 <= compared.length) return
  throw new AppError(
    'protocol',
    `${jumps.length} of ${compared.length} prices changed tenfold or more, as if they were in another unit`,
    { details: [staying] },
  )
}

function difference(
  before: readonly Price[],
  after: readonly Price[],
): Pick<PriceRefreshRow, 'added' | 'changed' | 'removed'> {
  const terms = (price: Price) => JSON.stringify(rowOf(price))
  const [old, current] = [before, after].map((prices) => new Map(prices.map((price) => [keyText(price), price])))
  const names = (prices: readonly Price[]) => prices.map(({ model }) => model)
  return {
    added: names(after.filter((price) => !old!.has(keyText(price)))),
    changed: names(
      after.filter((price) => {
        const known = old!.get(keyText(price))
        return known !== undefined && terms(known) !== terms(price)
      }),
    ),
    removed: names(before.filter((price) => !current!.has(keyText(price)))),
  }
}

function unchanged(plugin: string): PriceRefreshRow {
  return {
    plugin,
    before: 0,
    after: 0,
    added: [],
    changed: [],
    removed: [],
    written: false,
    skipped: null,
    error: null,
    warnings: [],
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The prices in a provider's list of models. */
interface ProviderPrices {
  readonly prices: readonly Price[]
  /** The rows with a price that no rates can say: a variable one, a fee for each request, or no number. */
  readonly leftOut: number
}

/**
 * The fields of `pricing` in OpenRouter's list, USD per token as texts
 * (https://openrouter.ai/docs/api-reference/list-available-models); others write theirs alike. `-1` is a variable price. Of
 * a part that costs nothing extra the list says 0, so that a part without more is none.
 */
const parts: Readonly<Record<string, keyof Rates>> = {
  input_cache_read: 'cached',
  input_cache_write: 'cacheWrite',
  internal_reasoning: 'reasoning',
  audio: 'audioInput',
}

/**
 * Takes the prices from a provider's list of models; models without a price are passed over, those with a price of
 * another form counted in `leftOut`.
 */
function pricesOf(plugin: string, rows: readonly ModelRow[], source: ModelsSource): ProviderPrices {
  const prices = new Map<string, Price>()
  let leftOut = 0
  for (const row of rows) {
    const model = nameOf(row, source)
    const pricing = row['pricing']
    if (model === undefined || !isModelName(model) || typeof pricing !== 'object' || pricing === null) continue
    const found = ratesOf(pricing as Readonly<Record<string, unknown>>)
    if (found) prices.set(model.toLowerCase(), { plugin, model, ...found })
    else leftOut++
  }
  return { prices: [...prices.values()], leftOut }
}

function ratesOf(pricing: Readonly<Record<string, unknown>>): Pick<Price, 'rates' | 'rounded'> | undefined {
  const [input, output] = [textRate(pricing['prompt']), textRate(pricing['completion'])]
  if (!input || !output) return undefined
  if (pricing['request'] !== undefined && textRate(pricing['request'])?.rate !== 0) return undefined
  const rates: { -readonly [Field in keyof Rates]: Rates[Field] } = { input: input.rate, output: output.rate }
  let isExact = input.isExact && output.isExact
  for (const [field, name] of Object.entries(parts)) {
    const part = textRate(pricing[field])
    if (!part || part.rate === 0) continue
    rates[name] = part.rate
    isExact &&= part.isExact
  }
  return { rates, ...(!isExact && { rounded: true as const }) }
}

/** A number may be USD per token or per million; the known lists with texts mean tokens. */
function textRate(value: unknown): ReturnType<typeof ratePerToken> {
  return typeof value === 'string' ? ratePerToken(value) : undefined
}
