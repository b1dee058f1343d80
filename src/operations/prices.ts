import { z } from 'zod'
import { priceRow, priceRows, shownPrice } from '../usage/usage.ts'
import { defineOperation } from './operation.ts'

/** Bytes of a price file. */
export const longestPriceFile = 2 * 1024 * 1024

/** The most prices of one request or answer: 5,000 held the event loop for 352 ms. */
const mostAtOnce = 1000

export const listPrices = defineOperation({
  name: 'prices.list',
  route: 'GET /api/prices',
  access: 'user',
  summary:
    'Lists the prices of models in USD per million tokens, by plugin and model. Of several for one model the operator’s goes before the refreshed and the shipped one.',
  input: z.object({
    plugin: z.exactOptional(z.string().max(100)),
    model: z.exactOptional(
      z.string().max(200).meta({ description: 'A name, or a pattern: `*` stands for any text, `#` for a digit.' }),
    ),
    source: z.exactOptional(shownPrice.shape.source),
    limit: z.coerce.number().int().min(1).max(mostAtOnce).default(mostAtOnce),
    offset: z.coerce.number().int().min(0).default(0),
  }),
  output: z.object({ prices: z.array(shownPrice), total: z.int() }),
  run: async ({ app }, query) => {
    const prices = await app.prices()
    return prices.list(query)
  },
})

export const setPrices = defineOperation({
  name: 'prices.set',
  failures: [404],
  route: 'PUT /api/prices',
  access: 'admin',
  audited: true,
  summary: "Sets prices of the operator's, all or none; each supersedes the one of the same plugin, model and day.",
  input: z.strictObject({ prices: priceRows.min(1).max(mostAtOnce) }),
  output: z.object({ prices: z.array(shownPrice) }),
  run: async ({ app, caller }, { prices: rows }) => {
    for (const id of new Set(rows.map(({ plugin }) => plugin))) app.plugins.get(id)
    const prices = await app.prices()
    return { prices: await prices.set(rows, caller.username) }
  },
})

export const unsetPrice = defineOperation({
  name: 'prices.unset',
  failures: [404],
  route: 'DELETE /api/prices',
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
    const prices = await app.prices()
    await prices.unset({ plugin, model, ...(day !== undefined && { validFrom: Date.parse(day) }) })
    return { plugin, model, removed: true as const }
  },
})

export const priceOperations = [listPrices, setPrices, unsetPrice]
