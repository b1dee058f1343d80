import { isObject, type JsonObject } from '../../protocol/json-object.ts'

/**
 * Gemini's Schema (https://ai.google.dev/api/caching#Schema) as JSON Schema: types in lower case, `nullable` as a type.
 * Other keywords stay.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = mapValues(schema, (value, name) => {
    if (name === 'type') return typeof value === 'string' ? value.toLowerCase() : value
    if (name === 'properties') return isObject(value) ? mapValues(value, convert) : value
    if (name === 'items') return convert(value)
    return name === 'anyOf' && Array.isArray(value) ? value.map(convert) : value
  })
  return nullable === true && typeof rest['type'] === 'string' ? { ...rest, type: [rest['type'], 'null'] } : rest
}

/** Whether a JSON Schema is also one that Gemini's older field for it takes, which knows a small part of the keywords only. */
export function isGeminiSchema(schema: JsonObject): boolean {
  return Object.entries(schema).every(([name, value]) => {
    if (name === 'properties') return isObject(value) && Object.values(value).every(isSchema)
    if (name === 'items') return isSchema(value)
    if (name === 'anyOf') return Array.isArray(value) && value.every(isSchema)
    if (name === 'type') return typeof value === 'string' && value !== 'null'
    if (name === 'enum') return Array.isArray(value) && value.every((item) => typeof item === 'string')
    if (name === 'format') return typeof value === 'string' && formats.includes(value)
    return keywords.includes(name)
  })
}

const formats = ['float', 'double', 'int32', 'int64', 'enum', 'date-time']

const keywords = [
  'title',
  'description',
  'maxItems',
  'minItems',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'propertyOrdering',
  'minimum',
  'maximum',
]

function isSchema(value: unknown): boolean {
  return isObject(value) && isGeminiSchema(value)
}

function convert(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value
}

function mapValues(value: JsonObject, map: (value: unknown, name: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, map(field, name)]))
}
