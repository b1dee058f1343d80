import { z } from 'zod'

/** The most tokens that a window may have: a larger number is a mistake, and no fact. */
const mostTokens = 100_000_000

const tokens = z.int().min(1).max(mostTokens)

/** The facts, as documents, lists and the API write them; each may be missing. */
export const modelFacts = z.object({
  display_name: z.exactOptional(z.string().min(1).max(200)),
  /** Tokens of a request and its answer. */
  context_window: z.exactOptional(tokens),
  /** Tokens of the longest answer. */
  max_output: z.exactOptional(tokens),
  /** Whether requests may hold pictures, PDF files, sound. */
  images: z.exactOptional(z.boolean()),
  pdf: z.exactOptional(z.boolean()),
  audio: z.exactOptional(z.boolean()),
  tools: z.exactOptional(z.boolean()),
  thinking: z.exactOptional(z.boolean()),
  /** Whether an answer can be bound to a JSON schema. */
  structured_output: z.exactOptional(z.boolean()),
  /** Whether a temperature may be given. */
  temperature: z.exactOptional(z.boolean()),
  /** The day since which the provider no longer serves it, or from which it will not: `2026-01-31`. */
  retired: z.exactOptional(z.string().regex(/^\d{4}-\d\d-\d\d$/)),
})

export type ModelFacts = z.output<typeof modelFacts>

const fields = Object.entries(modelFacts.shape) as [keyof ModelFacts, z.ZodType][]

/** The valid facts in a value that may be anything, such as an entry of a plugin document. */
export function factsIn(value: unknown): ModelFacts {
  if (typeof value !== 'object' || value === null) return {}
  const given = value as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    fields.flatMap(([name, schema]) => {
      const parsed = given[name] === undefined ? undefined : schema.safeParse(given[name])
      return parsed?.success ? [[name, parsed.data]] : []
    }),
  )
}

const abilities = ['images', 'pdf', 'audio', 'tools', 'thinking', 'structured_output'] as const

/** The names of what a model takes and does; undefined where nothing is known. */
export function abilitiesOf(facts: ModelFacts): string[] | undefined {
  const known = abilities.filter((name) => facts[name] !== undefined)
  return known.length === 0 ? undefined : known.filter((name) => facts[name])
}
