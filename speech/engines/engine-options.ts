import type { z } from 'zod'
import { AppError } from '../../src/errors.ts'

/** The options of an engine, which cross a process boundary as plain data. Throws `configuration` with all that is wrong. */
export function parseEngineOptions<Schema extends z.ZodType>(
  engine: string,
  schema: Schema,
  options: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new AppError('configuration', `Invalid options of the ${engine} engine`, { details })
}
