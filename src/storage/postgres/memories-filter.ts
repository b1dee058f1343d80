import type { MemoryFilter } from '../../personas/memory/memory.ts'

/** Gathers the values of a statement; each is known by the number of its parameter. */
export class Parameters {
  readonly values: unknown[]

  constructor(values: readonly unknown[] = []) {
    this.values = [...values]
  }

  /** Adds a value; returns its parameter. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** The conditions of a filter on the columns of `memory`; none for a filter without any. */
export function conditionsOf(filter: MemoryFilter, parameters: Parameters, table = 'memory'): readonly string[] {
  const compared = (column: string, operator: string, value: unknown) =>
    value === undefined ? [] : [`${table}.${column} ${operator} ${parameters.add(value)}`]
  const { category, speaker, conversation, after, before, pinned, idPrefix } = filter
  return [
    ...compared('category', '=', category),
    ...compared('speaker', '=', speaker),
    ...compared('conversation', '=', conversation),
    ...compared('timestamp', '>=', after),
    ...compared('timestamp', '<', before),
    ...compared('pinned', '=', pinned),
    ...compared('id', '>=', idPrefix),
    // No text of Unicode sorts behind its last character.
    ...compared('id', '<', idPrefix === undefined ? undefined : `${idPrefix}\u{10ffff}`),
  ]
}
