import { z } from 'zod'
import { isShownLine } from './terminal-text.ts'

/** A name that people see, trimmed: 1 to `longest` characters. */
export function shownName(longest: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine(isShownLine, 'must be one line without control characters and invisible ones')
}
