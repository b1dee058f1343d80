import type { StoreDatabase } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { OwnChanges } from './changes.ts'
import type { ProcessLease } from './process-lease.ts'
import type { Database } from './sql.ts'

/** The parts that all stores of one opened storage share. */
export interface Context {
  readonly db: Database
  /** The same, for the stores that are written once for both databases. */
  readonly driver: StoreDatabase
  readonly changes: OwnChanges
  readonly limits: StoredLimits
  readonly lease: ProcessLease
}
