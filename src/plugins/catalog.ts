import type { ModelsSource } from './manifest.ts'

/** One row of a provider's list of models, as it came. */
export type ModelRow = Readonly<Record<string, unknown>>

/** The rows of a list answer, where a text is a model's name; undefined without a list at the plugin's path. */
export function rowsOf(answer: unknown, source: Pick<ModelsSource, 'items' | 'id'>): readonly ModelRow[] | undefined {
  const rows = source.items === '' ? answer : valueAt(answer, source.items)
  if (!Array.isArray(rows)) return undefined
  return rows
    .map((row: unknown) => (typeof row === 'string' ? { [source.id]: row } : row))
    .filter((row): row is ModelRow => typeof row === 'object' && row !== null)
}

/**
 * The names of the chat models among a provider's rows: every `keep` rule holds and no `drop` pattern matches.
 * Names are stripped of the source's prefix, in the provider's order, each once; the source's `include` names follow.
 * `now` is in milliseconds since 1970 UTC, for rules about dates.
 */
export function chatModels(rows: readonly ModelRow[], source: ModelsSource, now: number): readonly string[] {
  const drop = (source.drop ?? []).map((pattern) => new RegExp(pattern, 'i'))
  const names = rows
    .filter((row) => (source.keep ?? []).every((rule) => holds(row, rule, now)))
    .map((row) => nameOf(row, source))
    .filter((name): name is string => name !== undefined && !drop.some((pattern) => pattern.test(matchable(name))))
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

/** The text that patterns match, shortened: a pattern may cost the square of its input. */
function matchable(value: unknown): string {
  return String(value).slice(0, 300)
}

/** Whether a date lies before `now`; false for an invalid date. */
function isPast(value: unknown, now: number): boolean {
  return typeof value === 'string' && Date.parse(value) <= now
}

function holds(row: ModelRow, rule: KeepRule, now: number): boolean {
  const value = valueAt(row, rule.path)
  if (value === undefined || (value === null && rule.equals !== null && rule.not !== null))
    return rule.optional === true
  if (rule.has !== undefined && !(Array.isArray(value) && value.includes(rule.has))) return false
  if (rule.equals !== undefined && value !== rule.equals) return false
  if (rule.not !== undefined && value === rule.not) return false
  if (rule.ahead === true && isPast(value, now)) return false
  return rule.matches === undefined || new RegExp(rule.matches, 'i').test(matchable(value))
}
