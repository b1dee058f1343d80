import { statSync } from 'node:fs'
import { AppError } from '../../../errors.ts'
import { parseJson } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { readInput } from '../../terminal/files.ts'
import { type JsonSchema, shortSchema } from './short-form.ts'

/** Bytes of a schema; providers take far less. */
const longestSchema = 256 * 1024

/** Bounds of a schema: levels of nesting, and values of any kind. */
const bounds = { depth: 40, values: 20_000, names: 5_000 }

/** A schema and its name in messages. */
export interface NamedSchema {
  readonly schema: JsonSchema
  readonly name: string
}

/**
 * The schema that a value of --schema stands for: JSON, the path of a file, or a list of fields. Throws `invalid` for JSON
 * that is no object, `no_input` for a file that is not there, and the errors of `shortSchema`.
 */
export async function readSchema(cli: Cli, text: string): Promise<NamedSchema> {
  const trimmed = text.trim()
  if (/^[{["]|^(?:true|false|null|-?\d+)$/.test(trimmed)) return fromJson(trimmed, 'the schema')
  if (!isPath(trimmed)) return { schema: shortSchema(text), name: 'the schema' }
  const bytes = await readInput(cli, trimmed, longestSchema)
  return fromJson(bytes.toString('utf8'), trimmed)
}

/** A schema that a template holds: an object, or a list of fields. Throws as `readSchema`. */
export function schemaIn(value: unknown, name: string): NamedSchema {
  if (typeof value === 'string') return { schema: shortSchema(value), name }
  return fromJson(JSON.stringify(value), name)
}

/** A path has a slash or the ending of JSON, or is a word that names a file. */
function isPath(text: string): boolean {
  if (/[,:\n]/.test(text) && !/\.json$/i.test(text)) return false
  if (/[\\/]|\.json$/i.test(text)) return true
  return statSync(text, { throwIfNoEntry: false })?.isFile() === true
}

function fromJson(json: string, name: string): NamedSchema {
  if (Buffer.byteLength(json) > longestSchema)
    throw new AppError('too_large', `${name} is longer than ${longestSchema / 1024} KiB`)
  const schema = parseJson(json, name, bounds)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new AppError('invalid', `${name} is no JSON Schema: it must be an object such as {"type":"object"}`)
  return { schema: schema as JsonSchema, name }
}
