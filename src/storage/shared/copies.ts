/** A copy of the database as `check` found it. */
export interface CopyFacts {
  readonly kind: 'sqlite'
  /** The newest change of the schema in it. */
  readonly schema: string
  readonly users: number
  readonly bytes: number
}

/** The accounts that may log in by the present database. */
export interface CarriedOver {
  readonly users: ReadonlyMap<
    string,
    {
      readonly id: string
      readonly username: string
      readonly password_hash: string
      readonly role: string
      readonly must_change_password: number
      readonly token_version: number
    }
  >
  /** Ids of API keys that are not revoked. */
  readonly liveKeys: ReadonlySet<string>
}

/** How `prepare` changed the accounts of a copy. */
export interface RestoredAccounts {
  /** Logins that ended. */
  readonly logins: number
  /** Users that were removed since: their passwords work no more. The first names, and the number of all. */
  readonly lockedUsers: readonly string[]
  readonly locked: number
  readonly revokedKeys: number
}

/** The present database, which no other process can open. */
export interface HeldDatabase {
  /** Its accounts; undefined where there are none or it cannot be read. */
  accounts(): CarriedOver | undefined
  release(): void
}

/** Copies of the whole database, each one file: taken beside processes that write, and put in its place by a restore. */
export interface StorageCopies {
  readonly kind: CopyFacts['kind']
  /** The place of the database, which a restore replaces. */
  readonly path: string
  /**
   * Copies the database of one moment to a new file, and, where it `keepsFiles`, writes the files of plugins and backups into
   * new folders. Throws `not_found` where there is none yet.
   */
  take(to: string, onProgress: (share: number) => void, files: CopiedFiles): Promise<void>
  /** Whether plugins and backups of personas are in the database, and not in folders next to it. */
  readonly keepsFiles: boolean
  /** Reads a whole copy. Throws `configuration` when it is damaged, not ours, or of a newer aichat. */
  check(copy: string): CopyFacts
  /**
   * Ends every login in a copy. Passwords, roles and revocations become those of `carried`; without it, all API keys are
   * revoked, for nothing tells which were revoked since. `as-backed-up` leaves passwords, roles and keys as they are.
   */
  prepare(copy: string, carried: CarriedOver | 'as-backed-up' | undefined, at: number): RestoredAccounts
  /** Keeps every other process out of the database until it is released. Throws `busy` when one has it open. */
  holdAlone(): HeldDatabase
  /**
   * Fills an empty database that instances share with a prepared copy and its files, all or nothing. Undefined for a
   * database in a file, which a restore replaces. Throws `cannot_create` where it is not empty.
   */
  fill?(copy: string, files: CopiedFiles): Promise<void>
}

export interface CopiedFiles {
  readonly plugins: string
  /** Packages of personas' backups. */
  readonly personaBackups: string
}
