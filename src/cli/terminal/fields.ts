import type { z } from 'zod'
import type { Operation } from '../../operations/operations.ts'
import type { Cli } from './cli.ts'
import { none } from './parsers.ts'

/**
 * The input of an operation as far as the options of the running command state it (`CliCommand.field`): fields that the
 * operation does not have are left out, and null where it takes none. A text becomes a number where the field is one. The
 * operation itself refuses wrong and missing values, and the message names the option.
 */
export function fieldsOf<I extends z.ZodType>(
  { running }: Pick<Cli, 'running'>,
  { input }: Pick<Operation<I>, 'input'>,
): z.input<I> {
  const request: Record<string, unknown> = {}
  for (const [path, stated] of running?.fieldValues() ?? []) {
    const value = stated === none ? null : stated
    const steps = path.split('.')
    const schema = schemaAt(input, steps)
    if (!schema || (value === null && !schema.safeParse(null).success)) continue
    let place = request
    steps.slice(0, -1).forEach((step, at) => {
      place[step] ??= isItem(steps[at + 1]!) ? [] : {}
      place = place[step] as Record<string, unknown>
    })
    place[steps.at(-1)!] = isNumeric(schema, value) ? Number(value) : value
  }
  return request as z.input<I>
}

/** The schema of a field within another; undefined where there is none. */
function schemaAt(schema: z.ZodType, [step, ...rest]: readonly string[]): z.ZodType | undefined {
  if (step === undefined) return schema
  const { shape = {}, element } = unwrapped(schema) as {
    readonly shape?: Readonly<Record<string, z.ZodType>>
    readonly element?: z.ZodType
  }
  const inner = isItem(step) ? element : Object.hasOwn(shape, step) ? shape[step] : undefined
  return inner && schemaAt(inner, rest)
}

function isItem(step: string): boolean {
  return /^\d+$/.test(step)
}

/** The schema within optional, nullable and transformed ones. */
function unwrapped(schema: z.ZodType): z.ZodType {
  const {
    innerType,
    in: before,
    out: after,
  } = schema.def as Partial<Readonly<Record<'innerType' | 'in' | 'out', z.ZodType>>>
  const inner = innerType ?? (before?.def.type === 'transform' ? after : before)
  return inner ? unwrapped(inner) : schema
}

function isNumeric(schema: z.ZodType, value: unknown): value is string {
  const isText = typeof value === 'string' && value.trim() !== ''
  return isText && unwrapped(schema).def.type === 'number' && Number.isFinite(Number(value))
}
