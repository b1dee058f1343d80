import { AppError } from '../../../errors.ts'
import { suggestion } from '../../../formats/formats.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/** The types of the short form, by their names there. */
const types: Readonly<Record<string, string>> = { str: 'string', int: 'integer', float: 'number', bool: 'boolean' }

/** The names of JSON Schema for the same. */
const longTypes = new Set(Object.values(types))

/** Fields of one object: OpenAI takes 5,000 in a schema. */
const mostFields = 200

/**
 * The schema that a list of fields stands for, such as `name, age int, bio: one sentence`: separated by commas, or each on a
 * line of its own, where a description may hold commas. Throws `usage` with all that is wrong.
 */
export function shortSchema(text: string): JsonSchema {
  const items = text.split(text.trim().includes('\n') ? '\n' : ',').map((item) => item.trim())
  const fields = items.filter((item) => item !== '')
  const problems: string[] = []
  const properties: Record<string, JsonSchema> = Object.create(null)
  for (const field of fields) {
    const read = fieldOf(field)
    if (typeof read === 'string') problems.push(read)
    else if (properties[read.name] !== undefined) problems.push(`"${read.name}" is there twice`)
    else properties[read.name] = read.schema
  }
  if (fields.length === 0) problems.push('it names no field')
  if (fields.length > mostFields)
    problems.push(`it has ${fields.length} fields, and at most ${mostFields} can be asked for`)
  if (problems.length > 0)
    throw new AppError('usage', 'Invalid --schema', {
      details: [...problems, 'Write fields such as "name, age int, bio: one sentence", JSON, or the path of a file'],
    })
  return {
    type: 'object',
    properties: { ...properties },
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** The schema of a list of such objects, under `items`: providers want an object outside. */
export function listOf(schema: JsonSchema): JsonSchema {
  const { $schema, $defs, definitions, ...item } = schema
  const outside = { $schema, $defs, definitions }
  return {
    ...Object.fromEntries(Object.entries(outside).filter(([, value]) => value !== undefined)),
    type: 'object',
    properties: { items: { type: 'array', items: item } },
    required: ['items'],
    additionalProperties: false,
  }
}

/** A field by its name, or the problem with it. */
function fieldOf(text: string): { readonly name: string; readonly schema: JsonSchema } | string {
  const colon = text.indexOf(':')
  const words = (colon < 0 ? text : text.slice(0, colon)).trim().split(/\s+/)
  const description = colon < 0 ? '' : text.slice(colon + 1).trim()
  const [name = '', type = 'str', ...rest] = words
  if (!/^[\p{L}_][\p{L}\p{N}_-]{0,63}$/u.test(name) || name === '__proto__')
    return `"${name.slice(0, 80)}" is no name of a field`
  if (rest.length > 0) return `"${text.slice(0, 80)}" has more than a name and a type: a description follows a colon`
  if (longTypes.has(type)) return { name, schema: { type, ...(description !== '' && { description }) } }
  if (!Object.hasOwn(types, type))
    return `"${type.slice(0, 80)}" is no type${suggestion(type, Object.keys(types))}; the types are ${Object.keys(types).join(', ')}`
  return { name, schema: { type: types[type], ...(description !== '' && { description }) } }
}
