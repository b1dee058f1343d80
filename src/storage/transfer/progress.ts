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

/** Tells the share of a transfer's work by the rows that are done; throws the signal's reason once it is aborted. */
export interface TransferProgress {
  copied(table: MovedTable, rows: number): void
  compared(table: MovedTable, rows: number): void
  /** The memories of personas that were compared, on both sides. */
  summed(memories: number): void
}

export function createProgress(
  counts: ReadonlyMap<MovedTable, number>,
  { onStep = () => {}, signal }: TransferControl,
): TransferProgress {
  const weightOf = ({ name }: MovedTable) => weights[name] ?? 1
  let total = 1
  for (const [table, rows] of counts) {
    total += rows * weightOf(table) * (1 + comparing)
    if (table.name === 'memory') total += rows * 2
  }
  let done = 0
  const step = (amount: number, doing: string) => {
    signal?.throwIfAborted()
    done += amount
    onStep({ doing, share: Math.min(1, done / total) })
  }
  return {
    copied: (table, rows) => step(rows * weightOf(table), `copying ${table.rows}`),
    compared: (table, rows) => step(rows * weightOf(table) * comparing, `comparing ${table.rows}`),
    summed: (memories) => step(memories, 'comparing personas'),
  }
}
