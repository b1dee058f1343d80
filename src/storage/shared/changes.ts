/** The data that is cached in front of a storage: accounts with their logins and API keys, limits, plugins, and prices. */
export type ChangeKind = 'accounts' | 'limits' | 'plugins' | 'prices'

/**
 * Tells caches when to drop their entries, also after a write of another process on the same storage. A database of
 * one machine knows at once; a shared one learns of a write by a notification, and polls as the guarantee.
 */
export interface Changes {
  /**
   * Another value after every committed write of that kind. Synchronous and about a microsecond, for every request asks.
   * A shared database may lag behind by one second. Undefined while it cannot tell: then nothing cached may be used.
   */
  mark(kind: ChangeKind): string | undefined
}

/** How logins and keys that were checked a moment ago go on while a shared database is away. */
export interface Grace {
  /** Milliseconds since a check; 0 for none. */
  readonly ms: number
  /** Milliseconds, monotonic. */
  now(): number
  /** When the database answered last that the marks hold, by that clock. */
  answeredAt(): number
  /** Whether the database is known to be away. */
  isAway(): boolean
  /** Whether a failure says that it is away. */
  forgives(reason: unknown): boolean
}
