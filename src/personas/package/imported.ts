import type { ArrivalFormat, LeftOut } from '../arrival/arrival.ts'
import type { Persona } from '../persona.ts'
import type { ImportMode, ImportRequest } from './write-task.ts'

export interface Imported {
  /** The format of the file: a package, or that of another program. */
  readonly format: 'package' | ArrivalFormat
  /** The name of the persona. */
  readonly name: string
  readonly persona_id: string
  readonly mode: ImportMode
  readonly dry_run: boolean
  readonly imported: { readonly memories: number; readonly adaptations: number }
  /** Memories of the package that the persona had already. */
  readonly duplicates: number
  /** The backup of the replaced persona. */
  readonly backup_id?: string
  readonly warnings: readonly string[]
  /** Conversations with memories, of a file of another program. */
  readonly conversations?: number
  /** Parts of such a file that were not taken, with the reason and their number. */
  readonly left_out?: readonly LeftOut[]
}

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
