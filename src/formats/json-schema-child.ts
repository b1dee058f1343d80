import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { AppError } from '../errors.ts'
import { boundMemory, serveParent } from '../process/process.ts'
import { mostProblems, type SchemaMethods } from './json-schema.ts'

/** The characters of a place or a value in a problem. */
const longestShown = 200

/**
 * All misses, keywords of other programs allowed. Nothing is ever loaded: a reference to another document fails. A schema is
 * checked against its own draft, unknown formats are remarks.
 */
const options: Options = { allErrors: true, strict: false, logger: false, verbose: false, addUsedSchema: false }

let validate: ValidateFunction | undefined

boundMemory()

// Runs in a process of its own: see json-schema.ts.
serveParent<SchemaMethods>({
  compile(schema) {
    validate = compiled(schema)
    return null
  },
  check(json) {
    if (!validate) throw new Error('no schema was compiled')
    validate(JSON.parse(json))
    return problemsOf(validate.errors ?? [])
  },
})

function compiled(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  if (schema['$async'] !== undefined) throw new AppError('invalid', '$async is no keyword of JSON Schema')
  const ajv = draftOf(schema['$schema'])
  // CommonJS: its default is a field of the module.
  const addFormats = ajvFormats as unknown as typeof ajvFormats.default
  addFormats(ajv as Ajv)
  if (!ajv.validateSchema(schema))
    throw new AppError('invalid', 'The schema is not valid', { details: problemsOf(ajv.errors ?? []) })
  try {
    return ajv.compile(schema)
  } catch (reason) {
    throw refusal(reason)
  }
}

/** The checker of the draft that a schema names; the newest where it names none. */
function draftOf(named: unknown): Ajv {
  const draft = typeof named === 'string' ? named.replace(/^https?:\/\/json-schema\.org\/|\/schema#?$|#$/g, '') : named
  if (draft === undefined || draft === 'draft/2020-12') return new Ajv2020(options)
  if (draft === 'draft/2019-09') return new Ajv2019(options)
  if (draft === 'draft-07' || draft === 'draft-06') return new Ajv(options)
  throw new AppError('invalid', `$schema is ${shown(named)}: use draft 2020-12, 2019-09 or 7, or leave it out`)
}

function refusal(reason: unknown): AppError {
  const { message, missingRef } = reason as Error & { missingRef?: string }
  if (missingRef !== undefined)
    return new AppError('invalid', `$ref ${shown(missingRef)} is not in the schema, and no other document is loaded`, {
      details: ['Put the schema that it refers to under $defs, and refer to "#/$defs/NAME"'],
      cause: reason,
    })
  return new AppError('invalid', message.slice(0, longestShown), { cause: reason })
}

/** `/people/0/age: must be integer`, one line each. */
function problemsOf(errors: readonly ErrorObject[]): readonly string[] {
  // Of `anyOf` and its kind the branches are reported too; the same line twice is one problem.
  const lines = new Set<string>()
  let more = 0
  for (const error of errors) {
    if (lines.size < mostProblems) lines.add(lineOf(error))
    else more++
  }
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])]
}

function lineOf({ instancePath, message = 'does not fit', params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>
  const named = additionalProperty ?? unevaluatedProperty
  const allowed = allowedValues ?? (allowedValue === undefined ? undefined : [allowedValue])
  const more =
    named !== undefined ? `: ${shown(named)}` : Array.isArray(allowed) ? `: ${allowed.map(shown).join(', ')}` : ''
  const place = instancePath === '' ? '/' : instancePath
  return `${place.slice(0, longestShown)}: ${message.slice(0, longestShown)}${more.slice(0, longestShown)}`
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, longestShown)
}
