import type { ResponseFormat } from '../../../chat/chat.ts'
import { AppError } from '../../../errors.ts'
import { counted, escapedJson, mostProblems, openSchemaCheck, parseJson } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { readInput } from '../../terminal/files.ts'
import { stripControls } from '../../terminal/io.ts'
import { note } from '../../terminal/output.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export interface JsonOptions {
  readonly schema?: string
  readonly jsonObject?: boolean
  readonly templateSchema?: unknown
}

/** The required form of an answer in JSON. */
export interface AnswerCheck {
  readonly format: ResponseFormat
  /** Prints an answer and checks it: JSON, laid out at a terminal. Throws `protocol` with all misses afterwards. */
  finish(text: string): Promise<void>
  close(): void
}

type Problems = (json: string) => Promise<readonly string[]>

/** Reads and compiles the schema of the options. Throws `usage` for two of them, and the errors of a schema that is none. */
export async function openAnswerCheck(cli: Cli, options: JsonOptions): Promise<AnswerCheck> {
  const { schema, jsonObject, templateSchema } = options
  if (schema !== undefined && jsonObject) throw new AppError('usage', 'Use either --schema or --json-object')
  if (jsonObject)
    return checkOf(cli, { type: 'json_object' }, async (json) => (/^\{/.test(json) ? [] : ['/: must be object']))
  const { schema: whole, name } =
    schema === undefined
      ? fromJson(JSON.stringify(templateSchema), 'the schema of the template')
      : await readSchema(cli, schema)
  const check = await openSchemaCheck(whole, name, cli.signal())
  const format = {
    type: 'json_schema' as const,
    json_schema: { name: nameIn(whole), schema: whole, strict: fitsStrict(whole) },
  }
  return { ...checkOf(cli, format, (json) => check.problemsOf(json, cli.signal())), close: check.close }
}

/** The name of a format: letters, digits, _ and -, at most 64 (https://platform.openai.com/docs/api-reference/chat). */
function nameIn({ title }: JsonSchema): string {
  const name = typeof title === 'string' ? title.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64) : ''
  return name === '' ? 'answer' : name
}

function checkOf(cli: Cli, format: ResponseFormat, problemsOf: Problems): AnswerCheck {
  return {
    format,
    async finish(text) {
      const { json, wasFenced } = jsonIn(text)
      const parsed = parse(json)
      const problems =
        'failure' in parsed
          ? []
          : await problemsOf(json).catch(async (reason: unknown) => {
              if (!cli.globals().json) await write(cli, text)
              throw reason
            })
      const fits = !('failure' in parsed) && problems.length === 0
      // With --json the whole reply is printed already.
      if (!cli.globals().json) await write(cli, fits ? laidOut(cli, json, parsed.value) : text)
      if ('failure' in parsed) throw parsed.failure
      if (wasFenced && cli.globals().verbose) note(cli, 'aichat: the answer stood in a code fence, which is left out')
      if (!fits) throw missed(problems, format)
    },
    close() {},
  }
}

function parse(json: string): { readonly value: unknown } | { readonly failure: AppError } {
  try {
    return { value: parseJson(json, 'the answer') }
  } catch (reason) {
    if (!(reason instanceof AppError)) throw reason
    const { message, details } = reason
    return { failure: new AppError('protocol', message, { details, cause: reason }) }
  }
}

/** JSON as the model wrote it; on a terminal with an indent. */
function laidOut(cli: Cli, json: string, value: unknown): string {
  return cli.io.stdoutIsTerminal && !cli.globals().plain ? JSON.stringify(value, null, 2) : json
}

async function write(cli: Cli, text: string): Promise<void> {
  const shown = cli.io.stdoutIsTerminal ? stripControls(escapedJson(text)) : text
  await cli.io.out(shown.endsWith('\n') ? shown : `${shown}\n`)
}

function missed(problems: readonly string[], format: ResponseFormat): AppError {
  if (format.type === 'json_object')
    return new AppError('protocol', 'The answer is JSON, but not one JSON object', { details: problems })
  const places = problems.length > mostProblems ? `more than ${mostProblems} places` : counted(problems.length, 'place')
  return new AppError('protocol', `The answer misses the schema in ${places}`, { details: problems })
}

/** Bytes of a schema; providers take far less. */
const longestSchema = 256 * 1024

/** Bounds of a schema: levels of nesting, and values of any kind. */
const bounds = { depth: 40, values: 20_000, names: 5_000 }

interface NamedSchema {
  readonly schema: JsonSchema
  readonly name: string
}

/** The schema of --schema: JSON, or a file's path. Throws `invalid` for no object, `no_input` for no such file. */
async function readSchema(cli: Cli, text: string): Promise<NamedSchema> {
  const trimmed = text.trim()
  if (/^[{["]|^(?:true|false|null|-?\d+)$/.test(trimmed)) return fromJson(trimmed, 'the schema')
  const bytes = await readInput(cli, trimmed, longestSchema)
  return fromJson(bytes.toString('utf8'), trimmed)
}

function fromJson(json: string, name: string): NamedSchema {
  if (Buffer.byteLength(json) > longestSchema)
    throw new AppError('too_large', `${name} is longer than ${longestSchema / 1024} KiB`)
  const schema = parseJson(json, name, bounds)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new AppError('invalid', `${name} is no JSON Schema: it must be an object such as {"type":"object"}`)
  return { schema: schema as JsonSchema, name }
}

/** The text of an answer without white space around it, and without a code fence that holds all of it. */
function jsonIn(text: string) {
  const trimmed = text.trim()
  const opening = /^(`{3,}|~{3,})[\t ]*(?:[\w+-]+[\t ]*)?\r?\n/.exec(trimmed)
  if (!opening) return { json: trimmed, wasFenced: false }
  const fence = opening[1]!
  const within = trimmed.slice(opening[0].length)
  if (!within.endsWith(fence) || within.length === fence.length) return { json: trimmed, wasFenced: false }
  return {
    json: within.slice(0, -fence.length).trim(),
    /** Whether it stood in a code fence, as weaker models write it. */
    wasFenced: true,
  }
}

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
function fitsStrict(schema: JsonSchema): boolean {
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
