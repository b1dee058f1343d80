import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { LedgerRow, UsageJournal } from '../../usage/ledger/ledger.ts'

/** Rows of a journal that are handed on together. */
const batch = 500

/** A longer line is no row of ours: characters. */
const longestLine = 10_000

/**
 * A process id may belong to another process by now: after a day (milliseconds) without a line, a journal counts as left
 * behind even so. Rows that are written twice count once.
 */
const staleMs = 86_400_000

/**
 * The journals of a data folder: one file of lines of JSON for each process, `<pid>-<random>.jsonl`, made at its first row
 * and removed when it closes. Files are readable by their owner alone.
 */
export function openUsageJournal(folder: string): UsageJournal {
  const places = join(folder, 'usage')
  const name = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0')
  const path = join(places, `${process.pid}-${name}.jsonl`)
  let file: number | undefined
  let isEmpty = true
  return {
    process: name,
    note(row) {
      if (file === undefined) {
        mkdirSync(places, { recursive: true, mode: 0o700 })
        file = openSync(path, 'a', 0o600)
      }
      isEmpty = false
      writeSync(file, `${JSON.stringify(row)}\n`)
    },
    clear() {
      if (file === undefined || isEmpty) return
      ftruncateSync(file, 0)
      isEmpty = true
    },
    async *leftBehind() {
      for (const journal of journalsIn(places)) {
        if (journal === path || isAlive(journal)) continue
        yield* batchesOf(journal)
      }
    },
    close() {
      if (file === undefined) return
      closeSync(file)
      file = undefined
      if (isEmpty) rmSync(path, { force: true })
    },
  }
}

function journalsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+-\w+\.jsonl$/.test(name))
      .map((name) => join(folder, name))
  } catch {
    // No process has noted anything yet.
    return []
  }
}

/** Whether the process of a journal lives. In a container each process may have the same id: then the start decides. */
function isAlive(path: string): boolean {
  const pid = Number(/(\d+)-\w+\.jsonl$/.exec(path)![1])
  try {
    const { mtimeMs } = statSync(path)
    if (pid === process.pid) return mtimeMs >= Date.now() - process.uptime() * 1000
    process.kill(pid, 0)
    return Date.now() - mtimeMs < staleMs
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The rows of a journal; the file is removed when the last of them are done. A line that was cut off is left out. */
async function* batchesOf(path: string): AsyncGenerator<{ rows: readonly LedgerRow[]; done(): void }> {
  const remove = () => rmSync(path, { force: true })
  let rows: LedgerRow[] = []
  const file = await open(path).catch(() => undefined)
  if (!file) return
  try {
    for await (const line of file.readLines({ encoding: 'utf8' })) {
      const row = rowIn(line)
      if (row) rows.push(row)
      if (rows.length < batch) continue
      yield { rows, done: () => undefined }
      rows = []
    }
    yield { rows, done: remove }
  } finally {
    await file.close().catch(() => undefined)
  }
}

function rowIn(line: string): LedgerRow | undefined {
  if (line.length > longestLine) return undefined
  try {
    const row = JSON.parse(line) as LedgerRow
    return isRow(row) ? row : undefined
  } catch {
    return undefined
  }
}

/** Whether a line holds a row: another program may have written into the folder. */
function isRow({ request, attempt, at, user, model, amounts, cost }: LedgerRow): boolean {
  return (
    typeof request === 'string' &&
    Number.isSafeInteger(attempt) &&
    Number.isSafeInteger(at) &&
    typeof user === 'string' &&
    typeof model === 'string' &&
    Number.isSafeInteger(amounts?.input) &&
    Number.isSafeInteger(amounts.output) &&
    (cost?.nano === null || Number.isSafeInteger(cost?.nano))
  )
}
