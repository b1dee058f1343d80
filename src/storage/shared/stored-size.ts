/** The size of an installation's data, over all users. */
export interface StoredSize {
  readonly users: number
  readonly personas: number
  readonly memories: number
  /** Bytes of personas with their memories, states and backups, as they count for the limits of users. */
  readonly personaBytes: number
  /** Bytes that the database takes, and those of its log that are not in it yet. */
  readonly databaseBytes: number
  readonly logBytes: number
}
