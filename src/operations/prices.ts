import { z } from 'zod'
import { priceFile, priceRow, priceRows } from '../usage/prices/price-schema.ts'
import type { PriceRefreshRequest, PriceRefreshRow } from '../usage/prices/refresh.ts'
import { defineOperation } from './operation.ts'

/** Bytes of a price file, and of a request that holds one. */
export const longestPriceFile = 2 * 1024 * 1024

/** The most prices of one request or answer: 5,000 held the event loop for 352 ms. */
const mostAtOnce = 1000

const source = z.enum(['operator', 'refreshed', 'shipped'])

const shownPrice = z.object({
  ...priceRow.shape,
  id: z.string(),
  source,
  /** The user, plugin, file or address that it is from. */
  origin: z.string(),
  /** RFC 3339, or a day for shipped prices. */
  fetched_at: z.string(),
})

export const listPrices = defineOperation({
  name: 'prices.list',
  method: 'GET',
  path: '/api/prices',
  access: 'user',
  summary:
    'Lists the prices of models in USD per million tokens, by plugin and model. Of several for one model the operator’s goes before the refreshed and the shipped one.',
  input: z.object({
    plugin: z.exactOptional(z.string().max(100)),
    model: z.exactOptional(
      z.string().max(200).meta({ description: 'A name, or a pattern: `*` stands for any text, `#` for a digit.' }),
    ),
    source: z.exactOptional(source),
    limit: z.coerce.number().int().min(1).max(mostAtOnce).default(mostAtOnce),
    offset: z.coerce.number().int().min(0).default(0),
  }),
  output: z.object({ prices: z.array(shownPrice), total: z.int() }),
  run: async ({ app }, query) => {
    const { prices } = await app.prices()
    return prices.list(query)
  },
})

export const setPrices = defineOperation({
  name: 'prices.set',
  failures: [404],
  method: 'PUT',
  path: '/api/prices',
  access: 'admin',
  audited: true,
  summary: "Sets prices of the operator's, all or none; each supersedes the one of the same plugin, model and day.",
  input: z.strictObject({ prices: priceRows.min(1).max(mostAtOnce) }),
  output: z.object({ prices: z.array(shownPrice) }),
  run: async ({ app, caller }, { prices: rows }) => {
    for (const id of new Set(rows.map(({ plugin }) => plugin))) app.plugins.get(id)
    const { prices } = await app.prices()
    return { prices: await prices.set(rows, caller.username) }
  },
})

export const unsetPrice = defineOperation({
  name: 'prices.unset',
  failures: [404],
  method: 'DELETE',
  path: '/api/prices',
  access: 'admin',
  audited: true,
  summary: "Ends a price of the operator's, so that the refreshed or the shipped one counts again.",
  input: z.object({
    plugin: priceRow.shape.plugin,
    model: priceRow.shape.model,
    valid_from: priceRow.shape.valid_from,
  }),
  output: z.object({ plugin: z.string(), model: z.string(), removed: z.literal(true) }),
  deed: ({ plugin, model }) => ({ subject: `${plugin}:${model}` }),
  run: async ({ app }, { plugin, model, valid_from: day }) => {
    const { prices } = await app.prices()
    await prices.unset({ plugin, model, ...(day !== undefined && { validFrom: Date.parse(day) }) })
    return { plugin, model, removed: true as const }
  },
})

const refreshRow = z.looseObject({
  plugin: z.string(),
  /** How many refreshed prices there were, and are now. */
  before: z.int(),
  after: z.int(),
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  written: z.boolean(),
  /** The reason why the plugin was skipped. */
  skipped: z.string().nullable(),
  /** The failure of its refresh; the prices before are in use. */
  error: z.string().nullable(),
  warnings: z.array(z.string()),
})

/** A chunk of a streamed refresh: first the number of plugins, then the row of each. */
export type PriceRefreshPiece = { readonly total: number } | { readonly row: PriceRefreshRow }

export const refreshPrices = defineOperation({
  name: 'prices.refresh',
  failures: [404, 502, 504],
  method: 'POST',
  path: '/api/prices/refresh',
  access: 'admin',
  audited: true,
  limit: longestPriceFile,
  summary:
    'Takes prices from the lists of models of the named plugins, or of all that have one and a key; with `document`, from a price file. Implausible ones leave those before in use.',
  input: z.strictObject({
    plugins: z.exactOptional(z.array(z.string()).min(1, 'must name at least one plugin').max(1000)),
    document: z.exactOptional(priceFile),
    origin: z.exactOptional(
      z.string().min(1).max(300).meta({ description: 'The name or address of the document, shown beside its prices.' }),
    ),
    dry_run: z.boolean().default(false),
    force: z.boolean().default(false),
    stream: z.boolean().default(false),
  }),
  output: z.object({ plugins: z.array(refreshRow) }),
  deed: ({ dry_run }) => (dry_run ? undefined : {}),
  run: async ({ app, signal }, { document, origin, ...input }) => {
    const refresh = await (await app.prices()).refresh()
    const request = requestOf(input)
    if (document) return { plugins: await refresh.take(document, origin ?? document.source, request) }
    const order = refresh.plan(request)
    const rows: PriceRefreshRow[] = []
    for await (const row of refresh.refresh(request, signal)) rows.push(row)
    return { plugins: rows.sort((a, b) => order.indexOf(a.plugin) - order.indexOf(b.plugin)) }
  },
  stream: {
    wanted: (input) => input.stream && input.document === undefined,
    run: async ({ app, signal }, input) => {
      const refresh = await (await app.prices()).refresh()
      const request = requestOf(input)
      const total = refresh.plan(request).length
      return { chunks: chunksOf(total, refresh.refresh(request, signal)) }
    },
  },
})

async function* chunksOf(total: number, rows: AsyncIterable<PriceRefreshRow>): AsyncGenerator<PriceRefreshPiece> {
  yield { total }
  for await (const row of rows) yield { row }
}

function requestOf(input: { plugins?: string[]; dry_run: boolean; force: boolean }): PriceRefreshRequest {
  return { plugins: input.plugins, dryRun: input.dry_run, force: input.force }
}

export const priceOperations = [listPrices, setPrices, unsetPrice, refreshPrices]
