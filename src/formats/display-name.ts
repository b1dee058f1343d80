import { z } from 'zod'
import { isPrintableLine } from './terminal-text.ts'

/** A display name, trimmed: 1 to `longest` characters. */
export function displayName(longest: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine(isPrintableLine, 'must be one line without control characters and invisible ones')
}
