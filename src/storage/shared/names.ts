/** The kinds of records whose names a shell completes. */
export type NamedKind = 'personas' | 'sessions' | 'users' | 'api-keys' | 'memories' | 'backups'

/** Whose names are read. */
export interface NameOwner {
  /** The administrator who owns the records of this machine, where a setting names one. */
  readonly administrator?: string | undefined
  /** The name or id of the persona whose memories or backups are meant. */
  readonly persona?: string | undefined
}
