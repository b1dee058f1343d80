import { AppError } from '../errors.ts'
import { printableLine, suggestion } from '../formats/formats.ts'

/** The longest name that a message repeats: characters. */
const longestName = 80

/** The failure for an unknown plugin: with the meant address, or the nearest installed ones, and all names. */
export function pluginNotFound(id: string, installed: readonly string[], meant?: string): AppError {
  const name = printableLine(id).slice(0, longestName)
  const near = meant === undefined ? suggestion(name, installed) : `; did you mean ${meant.slice(0, longestName)}?`
  return new AppError('not_found', `Plugin "${name}" not found${near}`, {
    details: installed.length > 0 ? [`Installed: ${installed.join(', ')}`] : [],
  })
}
