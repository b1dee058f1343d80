import { AppError } from '../../errors.ts'
import type { Scope } from '../../personas/personas.ts'

export interface ScopeRow {
  readonly scope_id: number
  readonly last_number: number
  readonly memories: number
  /** Of all its memories' terms together, in characters. */
  readonly length: number
}

/** Numbers per scope; with 2^24 of them two to the power of 29 scopes stay exact in a JavaScript number. */
export const width = 2 ** 24

/** The range, both ends included, that every statement about a scope's memories is limited to. */
export function rangeOf(scopeId: number) {
  return { low: scopeId * width, high: scopeId * width + width - 1 }
}

/** The next `count` numbers of a scope. Throws `internal` where it has none left. */
export function numbersAfter({ scope_id, last_number }: ScopeRow, count: number): number[] {
  if (last_number + count >= width)
    throw new AppError('internal', 'A persona cannot store more than sixteen million memories')
  const { low } = rangeOf(scope_id)
  return Array.from({ length: count }, (_, at) => low + last_number + 1 + at)
}

/** The user has no such persona, or no more. */
export function personaGone({ personaId }: Scope): AppError {
  return new AppError('not_found', `No persona "${personaId}"`)
}
