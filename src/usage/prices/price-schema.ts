import { z } from 'zod'
import { boundedRecord } from '../../formats/formats.ts'
import { patternRule } from '../../plugins/plugins.ts'
import { priceSources } from './price.ts'
import { rateOf } from './rate-text.ts'

/** The most prices of one file: the largest known list, OpenRouter's, has some 500. */
const mostRows = 10_000

const rate = z
  .string()
  .refine(
    (text) => rateOf(text) !== undefined,
    'must be USD per million tokens as a text, from "0" to "1000000" with at most six decimals, such as "2.5"',
  )
  .meta({ description: 'USD per million tokens: a decimal text with at most six decimals.', examples: ['2.5'] })

const rates = z.strictObject({
  input: rate,
  output: z.exactOptional(rate),
  cached: z.exactOptional(rate),
  cache_write: z.exactOptional(rate),
  cache_write_1h: z.exactOptional(rate),
  audio_input: z.exactOptional(rate),
  audio_output: z.exactOptional(rate),
  reasoning: z.exactOptional(rate),
})

const long = z
  .strictObject({ above: z.int().min(1).max(1_000_000_000), rates })
  .meta({ description: 'The rates of all tokens where the input has more than `above`.' })

const name = z
  .string()
  .regex(patternRule, 'must be the name of a model; * stands for any text, # for a digit')
  .meta({ description: 'A name, or a pattern: `*` stands for any text, `#` for a digit.' })

const day = z.string().refine(isDay, 'must be a day such as 2026-01-31')

const tariff = { rates, long: z.exactOptional(long) }

/** A price as files and the API write it. */
export const priceRow = z.strictObject({
  plugin: z.string().regex(/^[\w.-]{1,100}$/, 'must be the id of a plugin'),
  model: name,
  also: z.exactOptional(z.array(name).max(100)),
  except: z.exactOptional(z.array(name).max(20)),
  ...tariff,
  services: z
    .exactOptional(
      boundedRecord(
        z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a service tier or speed'),
        z.strictObject(tariff),
        16,
      ),
    )
    .meta({ description: 'Rates of service tiers and speeds, such as `flex`, `batch`, `priority` and `fast`.' }),
  valid_from: z.exactOptional(day.meta({ description: 'From the beginning of this day, in UTC.' })),
  rounded: z.exactOptional(z.boolean()),
})

/** Such a price, its rates as texts in USD per million tokens with at most six decimals. */
export type PriceRow = z.infer<typeof priceRow>

export const shownPrice = z.object({
  ...priceRow.shape,
  id: z.string(),
  source: z.enum(priceSources),
  /** The user, plugin, file or address that it is from. */
  origin: z.string(),
  /** RFC 3339, or a day for shipped prices: since when it stands like this. */
  fetched_at: z.string(),
})

export type PriceView = z.infer<typeof shownPrice>

/** Prices of one change, in which no name may stand twice. */
export const priceRows = z.array(priceRow).max(mostRows).superRefine(refuseTwice)

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text
}

/** The day of a time, in UTC. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function refuseTwice(rows: readonly PriceRow[], context: z.core.$RefinementCtx): void {
  const seen = new Map<string, number>()
  for (const [at, row] of rows.entries()) {
    const names = new Set([row.model, ...(row.also ?? [])].map((each) => each.toLowerCase()))
    for (const each of names) {
      const key = `${row.plugin} ${each} ${row.valid_from ?? ''}`
      const before = seen.get(key)
      if (before === undefined) seen.set(key, at)
      else
        context.addIssue({
          code: 'custom',
          path: [at, 'model'],
          message: `${each} stands there twice, in ${before} too`,
          input: row,
        })
    }
  }
}
