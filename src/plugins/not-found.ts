import { AppError } from '../errors.ts'
import { printableLine, suggestion } from '../formats/formats.ts'

/** The longest name that a message repeats: characters. */
const longestName = 80

/**
 * The failure for a plugin that is not installed, with the address that is meant, or else the nearest of the installed ones,
 * and all their names.
 */
export function pluginNotFound(id: string, installed: readonly string[], meant?: string): AppError {
  const name = printableLine(id).slice(0, longestName)
  const near = meant === undefined ? suggestion(name, installed) : `; did you mean ${meant.slice(0, longestName)}?`
  return new AppError('not_found', `Plugin "${name}" not found${near}`, {
    details: installed.length > 0 ? [`Installed: ${installed.join(', ')}`] : [],
  })
}
