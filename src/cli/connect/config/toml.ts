import { parse, patch, stringify } from '@decimalturn/toml-patch'
import { type ConfigFormat, lineBreakOf, type Path, valueAt, withValue } from './edits.ts'

/** TOML 1.0 (https://toml.io/en/v1.0.0). */
export const tomlFormat: ConfigFormat = {
  parse: (text) => parse(text) as unknown,
  change(text, path, value) {
    const appended = appendTable(text, path, value)
    try {
      if (appended !== undefined && valueAt(parse(appended), path) !== undefined) return appended
    } catch {
      // Its parent is a table in one line, which takes no table below.
    }
    return patch(text, withValue(parse(text), path, value) as never)
  },
}

/** A new table goes to the end under a heading of its own, where the library would write it into one line. */
function appendTable(text: string, path: Path, value: unknown): string | undefined {
  if (!isTable(value) || valueAt(parse(text), path) !== undefined) return undefined
  const lineBreak = lineBreakOf(text)
  const tables = tableLines(path, value)
  const isEnded = text === '' || text.endsWith('\n')
  return `${text}${isEnded ? '' : lineBreak}${text.trim() === '' ? '' : lineBreak}${tables.join(lineBreak)}${lineBreak}`
}

/** A table with its inner tables below it. */
function tableLines(path: Path, table: Record<string, unknown>): string[] {
  const fields = Object.entries(table)
  const plain = Object.fromEntries(fields.filter(([, value]) => !isTable(value)))
  const lines = [`[${path.map((name) => keyText(String(name))).join('.')}]`, ...stringify(plain).trimEnd().split('\n')]
  for (const [name, value] of fields) if (isTable(value)) lines.push('', ...tableLines([...path, name], value))
  return lines
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyText(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
}
