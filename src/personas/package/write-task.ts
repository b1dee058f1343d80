import type { Forgotten, Scope } from '../memory/memory.ts'

/** The effect of an import on an existing persona. */
export const importModes = ['create', 'merge', 'replace'] as const

export interface ImportRequest {
  readonly mode: (typeof importModes)[number]
  readonly dry_run: boolean
  readonly passphrase?: string | undefined
  /** The persona of `merge` and `replace`, by id or name; by default the one of the id in the package. */
  readonly persona?: string | undefined
  /** The chat model of a new persona from a file that names none. */
  readonly model?: string | undefined
  /** The name of a new persona, in place of the one in the file; not for packages. */
  readonly name?: string | undefined
  /** Leaves out conversations and memories of other programs that are older: milliseconds since 1970 UTC. */
  readonly after?: number | undefined
  /** Takes the assistant's answers of exported conversations, too. */
  readonly with_answers?: boolean | undefined
}

/** An import, a restore, or the rewriting of backups as plain data, for a child process that writes to the same database. */
export type PersonaWriteTask =
  | {
      readonly action: 'import'
      readonly owner: string
      /** A decrypted package or another program's file. */
      readonly path: string
      /** `persona` is an id. */
      readonly request: Omit<ImportRequest, 'passphrase'>
      /** The chat model of a new persona from a file that names none. */
      readonly defaultModel?: string
      readonly now: number
    }
  | { readonly action: 'restore'; readonly scope: Scope; readonly backupId: string; readonly now: number }
  | {
      readonly action: 'forget'
      readonly scope: Scope
      /** `removed` stands for all that the persona has not any more. */
      readonly what: Forgotten | 'removed'
      readonly backupIds: readonly string[]
      readonly now: number
    }

/** Runs a task in a child process; resolves with the result of the method of that name. */
export type WriteInChild = (task: PersonaWriteTask, signal?: AbortSignal) => Promise<unknown>
