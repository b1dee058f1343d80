import type { z } from 'zod'
import { counted } from './counted.ts'

/** A validated value, or its problems, one line each. */
type Validated<S extends z.ZodType> =
  | { readonly data: z.output<S>; readonly problems: undefined }
  | { readonly problems: readonly string[] }

export interface ValidateOptions {
  /** The name of the whole value, where the problem is in no field of it. */
  readonly whole?: string
  /** Writes a step of a path; names in untrusted data may hold secrets. */
  readonly step?: (step: PropertyKey) => string
}

/**
 * Validates a value by a schema. Problems are in plain words after the path of their field: `limit: must be at most 100, not
 * 500`. A schema's own messages come before these words. Only numbers are repeated, since any text may be a secret.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  value: unknown,
  { whole, step = String }: ValidateOptions = {},
): Validated<S> {
  const words: z.core.$ZodErrorMap = (issue) => wordsOf(issue, step)
  const parsed = schema.safeParse(value, { error: words })
  if (parsed.success) return { data: parsed.data, problems: undefined }
  const problems = parsed.error.issues.map(({ path, message }) => {
    const place = path.map(step).join('.') || whole
    return place ? `${place}: ${message}` : message
  })
  return { problems }
}

function wordsOf(issue: z.core.$ZodRawIssue, step: (step: PropertyKey) => string): string | undefined {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined ? 'is missing' : `must be ${typeName(issue.expected)}`
    case 'too_big':
      return `${sizeWords(issue.origin, 'at most', Number(issue.maximum), issue.inclusive ?? true)}${butIs(input)}`
    case 'too_small':
      if (issue.origin !== 'number' && Number(issue.minimum) === 1) return 'must not be empty'
      return `${sizeWords(issue.origin, 'at least', Number(issue.minimum), issue.inclusive ?? true)}${butIs(input)}`
    case 'invalid_value':
      return issue.values.length > 1 ? `must be ${choices(issue.values)}` : `must be ${String(issue.values[0])}`
    case 'unrecognized_keys':
      return `unknown ${issue.keys.length === 1 ? 'field' : 'fields'} ${issue.keys.map(step).join(', ')}`
    case 'invalid_format':
      return formats[issue.format] ?? 'has an invalid form'
    case 'invalid_union':
      return 'must be of another type'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}${butIs(input)}`
    default:
      return undefined
  }
}

const types: Readonly<Record<string, string>> = {
  record: 'an object',
  object: 'an object',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
}

const formats: Readonly<Record<string, string>> = {
  email: 'must be an email address',
  url: 'must be an address such as https://host.example',
  uuid: 'must be a UUID',
}

function typeName(expected: string): string {
  return types[expected] ?? `a ${expected}`
}

function sizeWords(origin: string, bound: 'at most' | 'at least', limit: number, inclusive: boolean): string {
  if (origin === 'string') return `must have ${bound} ${counted(limit, 'character')}`
  if (origin === 'array' || origin === 'set') return `must hold ${bound} ${counted(limit, 'item')}`
  return `must be ${inclusive ? bound : bound === 'at most' ? 'less than' : 'more than'} ${limit}`
}

/** `, not 500` for a number. */
function butIs(input: unknown): string {
  return typeof input === 'number' ? `, not ${input}` : ''
}

/** `a, b or c`. */
function choices(values: readonly unknown[]): string {
  return values
    .map(String)
    .join(', ')
    .replace(/, ([^,]+)$/, ' or $1')
}
