import { parseDocument } from 'yaml'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { nearestName, parseJson, suggestion, validate } from '../../formats/formats.ts'
import { optionFor, parameterName } from '../terminal/parameters.ts'
import { inputVariable, variableName, variablesIn } from './variables.ts'

/** Bytes of a template. */
export const longestTemplate = 256 * 1024

/** Aliases that a YAML document may unfold: a few lines of them can stand for gigabytes. */
const mostAliases = 100

const text = z.string().max(200_000)

const fields = {
  description: z.exactOptional(z.string().max(1000)),
  system: z.exactOptional(text),
  prompt: z.exactOptional(text),
  model: z.exactOptional(z.string().min(1).max(300)),
  options: z.exactOptional(z.record(z.string(), z.unknown())),
  schema: z.exactOptional(z.record(z.string(), z.unknown(), 'must be a JSON Schema')),
  files: z.exactOptional(z.array(z.string().min(1).max(4096)).max(400)),
  defaults: z.exactOptional(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()], 'must be a text or a number')),
  ),
}

const document = z.strictObject(fields)

export type Template = z.output<typeof document>

/** A text of a template that may hold variables, with its place. */
export interface TemplateText {
  readonly place: string
  readonly text: string
}

/** The texts of a template in which variables are filled in. */
export function textsOf({ system, prompt, files = [] }: Template): readonly TemplateText[] {
  return [
    { place: 'system', text: system ?? '' },
    { place: 'prompt', text: prompt ?? '' },
    ...files.map((file, index) => ({ place: `files.${index}`, text: file })),
  ]
}

/** The names of a template's variables, `input` left out. */
export function variablesOf(template: Template): readonly string[] {
  const names = textsOf(template).flatMap((each) => variablesIn(each.text).map(({ name }) => name))
  return [...new Set(names)].filter((name) => name !== inputVariable)
}

/** Reads a template in YAML or JSON; `name` is for errors. Throws `invalid` with all that is wrong. */
export function parseTemplate(source: string, name: string): Template {
  if (Buffer.byteLength(source) > longestTemplate)
    throw new AppError('too_large', `${name} is longer than ${longestTemplate / 1024} KiB`)
  const value = isJson(source) ? parseJson(source, name) : fromYaml(source, name)
  const unknown = unknownFields(value)
  const read = validate(document, unknown.known, { whole: 'the template' })
  const problems = [...unknown.problems, ...(read.problems ?? contradictions(read.data))]
  if (read.problems || problems.length > 0) throw new AppError('invalid', `Invalid ${name}`, { details: problems })
  return read.data
}

/** Whether a template is written in JSON, of which YAML takes most but not all. */
function isJson(source: string): boolean {
  return source.trimStart().startsWith('{')
}

/** Open brackets that the parser is given: it calls itself for each, and the process ends where its stack does. */
const deepest = 500

function requireShallow(source: string): void {
  let depth = 0
  for (const bracket of source.match(/[[\]{}]/g) ?? []) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    if (depth > deepest) throw new Error('it is nested too deeply')
  }
}

function fromYaml(source: string, name: string): unknown {
  try {
    requireShallow(source)
    const parsed = parseDocument(source, { prettyErrors: true })
    const [first] = parsed.errors
    if (first) throw new Error(first.message.split('\n', 1)[0])
    return parsed.contents === null ? {} : (parsed.toJS({ maxAliasCount: mostAliases }) as unknown)
  } catch (reason) {
    const message = reason instanceof Error ? reason.message.slice(0, 300) : ''
    throw new AppError('invalid', `Invalid ${name}`, { details: [`It is no YAML: ${message}`], cause: reason })
  }
}

/** The known fields of a document, and a line for each other one. */
function unknownFields(value: unknown): { readonly known: unknown; readonly problems: readonly string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { known: value, problems: [] }
  const names = Object.keys(fields)
  const wrong = Object.keys(value).filter((name) => !names.includes(name))
  return {
    known: Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.includes(name))),
    problems: wrong.map((name) => {
      const shown = name.slice(0, 60)
      const hint =
        nearestName(shown, names) === undefined ? `; the fields are ${names.join(', ')}` : suggestion(shown, names)
      return `unknown field ${shown}${hint}`
    }),
  }
}

function contradictions(template: Template): readonly string[] {
  const { system, prompt, files = [], schema, model, options = {}, defaults = {} } = template
  const isEmpty = [system, prompt, schema, model].every((field) => field === undefined) && files.length === 0
  const names = variablesOf(template)
  return [
    ...(isEmpty && Object.keys(options).length === 0 ? ['it is empty: give it a system text or a prompt'] : []),
    ...Object.keys(options).flatMap((key) => {
      if (!parameterName.test(key)) return [`options.${key.slice(0, 60)}: is no name of a parameter, such as top_p`]
      const option = optionFor(key)
      return option === undefined ? [] : [`options.${key}: is no parameter of the model: ${option} sets it`]
    }),
    ...Object.keys(defaults).flatMap((name) => {
      if (name === inputVariable) return [`defaults.${name}: $input is the text of the question`]
      if (!variableName.test(name)) return [`defaults.${name.slice(0, 60)}: is no name of a variable`]
      return names.includes(name)
        ? []
        : [`defaults.${name}: the template has no variable $${name}${suggestion(name, names)}`]
    }),
  ]
}
