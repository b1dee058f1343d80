import { AppError } from '../../errors.ts'
import type { StorageUse } from '../shared/storage-use.ts'
import { unknownTo } from './version.ts'

/** Throws `configuration` for changes of a schema that this program does not know. */
export function refuseNewer(database: string, applied: Iterable<string>): void {
  const unknown = unknownTo(applied)
  if (unknown.length > 0)
    throw new AppError('configuration', `The database ${database} was written by a newer aichat: update this one`, {
      details: unknown.map((name) => `unknown change of schema: ${name}`),
    })
}

/**
 * Whether a newer schema is no reason to refuse: a service that runs continues after a newer program changed the schema, and starts
 * workers and children then. Releases that follow each other only add to a schema.
 */
export function expectsNewer({ isChecked, bulk, readOnly }: StorageUse): boolean {
  return Boolean(isChecked || bulk || readOnly)
}
