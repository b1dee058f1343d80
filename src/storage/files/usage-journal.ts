import { randomBytes } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { makeFolder } from '../../formats/formats.ts'
import { holder, isHeld } from '../../process/process.ts'
import { isJournalRow, type LedgerRow, type UsageJournal } from '../../usage/usage.ts'

/** Rows of a journal that are handed on together. */
const batch = 500

/** A longer line is no row of ours: characters. */
const longestLine = 10_000

/** The beginning of every line of ours; one that was cut off has it too. */
const lineStart = '{"request":"'

/** The journals that this process has open. */
const ours = new Set<string>()

/**
 * The journals of a data folder: one file of lines of JSON for each process, `<holder>-<random>.jsonl`, made at its first row
 * and removed when it closes; `0-` begins the name of one that was set aside. Files are readable by their owner alone. Files of other programs stay as they are.
 */
export function openUsageJournal(folder: string): UsageJournal {
  const places = join(folder, 'usage')
  const name = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0')
  const path = join(places, `${holder()}-${name}.jsonl`)
  let file: number | undefined
  let isEmpty = true
  let isTorn = false
  let asides = 0
  const open = (): number => {
    makeFolder(places)
    const opened = openSync(path, 'a', 0o600)
    ours.add(path)
    return opened
  }
  const close = () => {
    if (file === undefined) return
    closeSync(file)
    file = undefined
    ours.delete(path)
  }
  return {
    process: name,
    note(rows) {
      file ??= open()
      isEmpty = false
      let lines = isTorn ? '\n' : ''
      for (const row of rows) lines += `${JSON.stringify(row)}\n`
      isTorn = true
      // A full disk may take a part of a line and say nothing.
      if (writeSync(file, lines) < Buffer.byteLength(lines)) throw new Error('ENOSPC: no space left on device')
      isTorn = false
    },
    clear() {
      if (file === undefined || isEmpty) return
      ftruncateSync(file, 0)
      isEmpty = true
      isTorn = false
      // Removed, as by a process elsewhere that shares the folder and cannot see this one: the next row makes another.
      if (fstatSync(file).nlink === 0) close()
    },
    setAside() {
      if (file === undefined || isEmpty) return
      close()
      renameSync(path, join(places, `0-${name}${++asides}.jsonl`))
      isEmpty = true
      isTorn = false
    },
    async *leftBehind() {
      for (const journal of journalsIn(places)) {
        const name = basename(journal)
        // Rows of a process that is not seen from here are written twice and count once.
        if (ours.has(journal) || (isHeld(name) && !name.startsWith(`${holder()}-`))) continue
        yield* batchesOf(journal)
      }
    },
    count: () => journalsIn(places).length,
    close() {
      if (file === undefined) return
      close()
      if (isEmpty) rmSync(path, { force: true })
    },
  }
}

function journalsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(?:pid\d{1,10}-)?\d{1,20}-\w+\.jsonl$/.test(entry.name))
      .map(({ name }) => join(folder, name))
  } catch {
    // No process has noted anything yet.
    return []
  }
}

/** The rows of a journal; its file goes with the last of them. Skips a cut line, and leaves a foreign file. */
async function* batchesOf(path: string): AsyncGenerator<{ rows: readonly LedgerRow[]; done(): void }> {
  let rows: LedgerRow[] = []
  let isOurs = true
  for await (const line of linesOf(path)) {
    const row = rowIn(line)
    if (row) rows.push(row)
    else if (line.startsWith(lineStart)) continue
    else {
      isOurs = false
      break
    }
    if (rows.length < batch) continue
    yield { rows, done: () => undefined }
    rows = []
  }
  yield { rows, done: () => isOurs && rmSync(path, { force: true }) }
}

/** The lines of a file, one that is too long in pieces; none where it cannot be read. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const piece of createReadStream(path, { encoding: 'utf8' })) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line !== '') yield line
      if (rest.length > longestLine) {
        yield rest
        rest = ''
      }
    }
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'ENOENT') throw reason
  }
  if (rest !== '') yield rest
}

function rowIn(line: string): LedgerRow | undefined {
  if (line.length > longestLine) return undefined
  try {
    const row: unknown = JSON.parse(line)
    return isJournalRow(row) ? row : undefined
  } catch {
    return undefined
  }
}
