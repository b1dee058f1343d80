import { isObject, type JsonObject } from '../../protocol/json-object.ts'

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
