import type { Persona } from '../persona.ts'
import type { Imported } from './outcomes.ts'
import type { ImportRequest } from './write-task.ts'

/** The outcome of a package's import, without warnings. */
export function imported(
  persona: Persona,
  { mode, dry_run }: ImportRequest,
  counts: Imported['imported'],
  duplicates: number,
): Imported {
  const { id, name } = persona
  return { format: 'package', name, persona_id: id, mode, dry_run, imported: counts, duplicates, warnings: [] }
}
