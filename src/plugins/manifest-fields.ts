import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The meaning of a field, with an example, and the default where the schema itself sets none. */
interface FieldText {
  readonly description: string
  readonly example: unknown
  readonly default?: unknown
}

const texts: Readonly<Record<string, FieldText>> = JSON.parse(
  readFileSync(new URL('./src/plugins/manifest-fields.json', import.meta.resolve('#package')), 'utf8'),
)

/** A field of the plugin document, at any depth. */
export interface ManifestField {
  /** Dotted path; `[]` stands for the items of a list. */
  readonly path: string
  readonly required: boolean
  readonly fallback: unknown
  readonly schema: z.core.$ZodType
}

/** The fields of a document, in the order of its schema, parents first. */
export function* manifestFields(schema: z.core.$ZodType, prefix = ''): Generator<ManifestField> {
  const { def } = unwrapped(schema).schema._zod as z.core.$ZodTypes['_zod']
  if (def.type === 'array') yield* manifestFields(def.element, `${prefix}[]`)
  if (def.type === 'union') for (const option of def.options) yield* manifestFields(option, prefix)
  if (def.type !== 'object') return
  for (const [name, value] of Object.entries(def.shape)) {
    const path = prefix ? `${prefix}.${name}` : name
    const { schema: inner, optional, fallback } = unwrapped(value)
    yield { path, required: !optional, fallback, schema: inner }
    yield* manifestFields(inner, path)
  }
}

/**
 * Describes the fields for `aichat help plugin-file`, aichat-plugin(5) and OpenAPI. test/cli/help/plugin-file.test.ts checks that
 * none lacks its text. A schema describes one field: fields that are alike have a schema each.
 */
export function describeFields(document: z.core.$ZodType): void {
  for (const { path, schema } of manifestFields(document)) {
    const { example, ...text } = texts[path] ?? { description: '', example: undefined }
    z.globalRegistry.add(schema, { ...text, examples: [example] })
  }
}

/** Removes the wrappers of optional and default fields. */
export function unwrapped(schema: z.core.$ZodType): { schema: z.core.$ZodType; optional: boolean; fallback: unknown } {
  const { def } = schema._zod as z.core.$ZodTypes['_zod']
  if (def.type === 'optional') return { ...unwrapped(def.innerType), optional: true }
  if (def.type === 'default') return { ...unwrapped(def.innerType), optional: true, fallback: def.defaultValue }
  return { schema, optional: false, fallback: undefined }
}
