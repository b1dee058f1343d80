import type { JsonSchema } from './short-form.ts'

/** The keywords of strict schemas (https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"). */
const known = new Set([
  ...['$schema', '$id', '$defs', 'definitions', '$ref', 'title', 'description', 'type', 'enum', 'const', 'anyOf'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
  ...['pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
])

/** Objects within objects, and fields in all, of a strict schema (the same page, "Limitations"). */
const [mostLevels, mostProperties] = [10, 5000]

/**
 * Whether a provider can hold a model to a schema word by word: each object lists all its fields, requires each and allows
 * no other. Any other schema is a guide for the model, and the check of the answer counts.
 */
export function fitsStrict(schema: JsonSchema): boolean {
  let properties = 0
  return schema['type'] === 'object' && schema['anyOf'] === undefined && fits(schema, 0)

  function fits(value: unknown, level: number): boolean {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || level > mostLevels) return false
    const part = value as JsonSchema
    if (!Object.keys(part).every((key) => known.has(key))) return false
    const children = [part['items'], ...listIn(part['anyOf'])].filter((child) => child !== undefined)
    const named = [part['$defs'], part['definitions']].flatMap((all) => Object.values((all ?? {}) as object))
    return isClosed(part, level) && [...children, ...named].every((child) => fits(child, level))
  }

  function isClosed(part: JsonSchema, level: number): boolean {
    const all = part['properties']
    const isObject = listIn(part['type']).includes('object') || part['type'] === 'object' || all !== undefined
    if (!isObject) return true
    const fields = Object.entries((all ?? {}) as object)
    properties += fields.length
    const required = listIn(part['required'])
    return (
      part['additionalProperties'] === false &&
      properties <= mostProperties &&
      fields.every(([name, child]) => required.includes(name) && fits(child, level + 1))
    )
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
