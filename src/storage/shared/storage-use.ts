/** The way in which a process uses a storage. */
export interface StorageUse {
  /** A service reads everything once at its start, and polls a shared database for changes; a single command does neither. */
  readonly service?: boolean
  /** Another process of the same service has read everything a moment ago. */
  readonly isChecked?: boolean
  /** Reads personas at the same time as the process that writes; every write fails. */
  readonly readOnly?: boolean
  /** Writes whole personas, and little else. */
  readonly bulk?: boolean
  /** Creates nothing: where no storage is there yet, an empty one that goes with `close` takes its place. */
  readonly create?: false
}
