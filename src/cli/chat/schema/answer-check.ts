import type { ResponseFormat } from '../../../chat/chat.ts'
import { AppError } from '../../../errors.ts'
import { counted, escapedJson, mostProblems, openSchemaCheck, parseJson } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { stripControls } from '../../terminal/io.ts'
import { note } from '../../terminal/output.ts'
import { type NamedSchema, readSchema, schemaIn } from './given-schema.ts'
import { jsonIn } from './json-answer.ts'
import { type JsonSchema, listOf } from './short-form.ts'
import { fitsStrict } from './strict.ts'

/** The options that ask for an answer in JSON. */
export interface JsonOptions {
  readonly schema?: string
  readonly schemaMulti?: string
  readonly jsonObject?: boolean
  /** The schema of a template: an object or a list of fields. */
  readonly templateSchema?: unknown
}

/** The required form of an answer in JSON. */
export interface AnswerCheck {
  /** The field of the request. */
  readonly format: ResponseFormat
  /**
   * Prints an answer and checks it: JSON as it came, laid out at a terminal. Throws `protocol` with all misses, after it
   * has printed the answer as the model wrote it.
   */
  finish(text: string): Promise<void>
  close(): void
}

type Problems = (json: string) => Promise<readonly string[]>

/** Reads and compiles the schema of the options. Throws `usage` for two of them, and the errors of a schema that is none. */
export async function openAnswerCheck(cli: Cli, options: JsonOptions): Promise<AnswerCheck> {
  const { schema, schemaMulti, jsonObject } = options
  if ([schema !== undefined, schemaMulti !== undefined, jsonObject === true].filter(Boolean).length > 1)
    throw new AppError('usage', 'Use one of --schema, --schema-multi and --json-object')
  if (jsonObject)
    return checkOf(cli, { type: 'json_object' }, async (json) => (/^\{/.test(json) ? [] : ['/: must be object']))
  const { schema: whole, name } = await wantedSchema(cli, options)
  const check = await openSchemaCheck(whole, name, cli.signal())
  const format = {
    type: 'json_schema' as const,
    json_schema: { name: nameIn(whole), schema: whole, strict: fitsStrict(whole) },
  }
  return { ...checkOf(cli, format, (json) => check.problemsOf(json, cli.signal())), close: check.close }
}

async function wantedSchema(cli: Cli, { schema, schemaMulti, templateSchema }: JsonOptions): Promise<NamedSchema> {
  if (schema !== undefined) return readSchema(cli, schema)
  if (schemaMulti === undefined) return schemaIn(templateSchema, 'the schema of the template')
  const item = await readSchema(cli, schemaMulti)
  return { ...item, schema: listOf(item.schema) }
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
