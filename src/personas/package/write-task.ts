import type { Scope } from '../memory/memory.ts'

/** What an import does with a persona that is there already. */
export type ImportMode = 'create' | 'merge' | 'replace'

export interface ImportRequest {
  readonly mode: ImportMode
  /** Says what would happen, and writes nothing. */
  readonly dry_run: boolean
  readonly passphrase?: string | undefined
  /** Which persona `merge` and `replace` are about, by id or name; without it, the one whose id the package names. */
  readonly persona?: string | undefined
  /** The chat model of a character card, which names none. */
  readonly model?: string | undefined
}

/** A whole persona that is to arrive, as plain data: done in a process of its own, which writes beside this one. */
export type PersonaWriteTask =
  | {
      readonly action: 'import'
      readonly owner: string
      /** A package or card in plain text. */
      readonly path: string
      /** `persona` is an id. */
      readonly request: Omit<ImportRequest, 'passphrase'>
      /** The chat model of a card that names none. */
      readonly defaultModel?: string
      readonly now: number
    }
  | { readonly action: 'restore'; readonly scope: Scope; readonly backupId: string; readonly now: number }

/** Does such a task; resolves with what the same method resolves with in this process. */
export type WriteInChild = (task: PersonaWriteTask, signal?: AbortSignal) => Promise<unknown>
