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
