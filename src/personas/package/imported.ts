import type { Persona } from '../persona.ts'
import type { ImportMode, ImportRequest } from './write-task.ts'

export interface Imported {
  readonly persona_id: string
  readonly mode: ImportMode
  readonly dry_run: boolean
  readonly imported: { readonly memories: number; readonly adaptations: number }
  /** Memories of the package that the persona had already. */
  readonly duplicates: number
  /** The backup of the replaced persona. */
  readonly backup_id?: string
  readonly warnings: readonly string[]
}

/** The outcome of an import without warnings. */
export function imported(
  persona: Persona,
  { mode, dry_run }: ImportRequest,
  counts: Imported['imported'],
  duplicates: number,
): Imported {
  return { persona_id: persona.id, mode, dry_run, imported: counts, duplicates, warnings: [] }
}
