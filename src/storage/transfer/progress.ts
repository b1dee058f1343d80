import type { MovedTable } from '../schema/tables.ts'

/** How far a transfer is. */
export interface TransferStep {
  readonly doing: string
  readonly share: number
}

export interface TransferControl {
  readonly onStep?: ((step: TransferStep) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The work of a row, next to that of a small one. */
const weights: Readonly<Record<string, number>> = {
  memory: 4,
  memory_terms: 4,
  memory_vector: 4,
  persona_backup_part: 20,
}

/** The share of a row's work that comparing it takes, on both sides. */
const comparing = 0.5

/** Tells the share of a transfer's work by the rows that are done. */
export interface TransferProgress {
  copied(table: MovedTable, rows: number): void
  compared(table: MovedTable): void
}

/** Follows a transfer of so many rows of each table. */
export function createProgress(
  counts: ReadonlyMap<MovedTable, number>,
  onShare: (share: number) => void,
): TransferProgress {
  const workOf = (table: MovedTable, rows: number) => rows * (weights[table.name] ?? 1)
  const total = [...counts].reduce((sum, [table, rows]) => sum + workOf(table, rows) * (1 + comparing), 1)
  let done = 0
  const step = (amount: number) => {
    done += amount
    onShare(Math.min(1, done / total))
  }
  return {
    copied: (table, rows) => step(workOf(table, rows)),
    compared: (table) => step(workOf(table, counts.get(table)!) * comparing),
  }
}
