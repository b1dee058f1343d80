import type { ModelsSource } from './manifest.ts'

/** One row of a provider's list of models, as it came. */
export type ModelRow = Readonly<Record<string, unknown>>

/** The rows of a list answer, or undefined when the answer holds no list where the plugin says one is. */
export function rowsOf(answer: unknown, source: Pick<ModelsSource, 'items'>): readonly ModelRow[] | undefined {
  const rows = source.items === '' ? answer : valueAt(answer, source.items)
  return Array.isArray(rows)
    ? rows.filter((row): row is ModelRow => typeof row === 'object' && row !== null)
    : undefined
}

/**
 * The names of the chat models among a provider's rows: every `keep` rule holds and no `drop` pattern matches.
 * Names are stripped of the source's prefix, in the provider's order, each once; the source's `include` names follow.
 */
export function chatModels(rows: readonly ModelRow[], source: ModelsSource): readonly string[] {
  const drop = (source.drop ?? []).map((pattern) => new RegExp(pattern, 'i'))
  const names = rows
    .filter((row) => (source.keep ?? []).every((rule) => holds(row, rule)))
    .map((row) => nameOf(row, source))
    .filter((name): name is string => name !== undefined && !drop.some((pattern) => pattern.test(name)))
  return [...new Set([...names, ...(source.include ?? [])])]
}

/** A row's model name without the source's prefix. */
export function nameOf(row: ModelRow, source: Pick<ModelsSource, 'id' | 'strip'>): string | undefined {
  const name = valueAt(row, source.id)
  if (typeof name !== 'string' || name === '') return undefined
  return source.strip && name.startsWith(source.strip) ? name.slice(source.strip.length) : name
}

/** The value at a dotted path, or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value
  for (const step of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined
    current = (current as Record<string, unknown>)[step]
  }
  return current
}

type KeepRule = NonNullable<ModelsSource['keep']>[number]

function holds(row: ModelRow, rule: KeepRule): boolean {
  const value = valueAt(row, rule.path)
  if (value === undefined || (value === null && rule.equals !== null && rule.not !== null))
    return rule.optional === true
  if (rule.has !== undefined && !(Array.isArray(value) && value.includes(rule.has))) return false
  if (rule.equals !== undefined && value !== rule.equals) return false
  if (rule.not !== undefined && value === rule.not) return false
  return rule.matches === undefined || new RegExp(rule.matches, 'i').test(String(value))
}
