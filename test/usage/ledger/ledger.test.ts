import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { openUsageJournal } from '../../../src/storage/storage.ts'
import { createLedger, type LedgerRow, type LedgerStore } from '../../../src/usage/ledger/ledger.ts'
import { closing } from '../../helpers/disposal.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'
import { row as attempted } from '../../storage/contract/ledger.ts'

const test = suite('the ledger and its journal')

test('rows are noted at once, written in a batch, and then forgotten by the journal', () =>
  scene(async ({ folder, ledger, stored, book }) => {
    const [id] = [book(), book()]
    assert.is(linesIn(folder).length, 2)
    assert.equal(stored, [])
    await ledger.settle()
    assert.is(stored.length, 2)
    assert.is(stored[0]?.request, id)
    assert.equal(linesIn(folder), [])
    await ledger.close()
    assert.equal(readdirSync(join(folder, 'usage')), [])
  }))

test('attempts that are booked together are noted with one write at the end of the turn, or before they are stored', () =>
  scene(async ({ folder, ledger, stored }) => {
    const ids = Array.from({ length: 3 }, () => ledger.nextRequest())
    const noted = Promise.all(ids.map((id) => ledger.bookTogether(row(id))))
    assert.equal([existsSync(join(folder, 'usage')), ledger.state().waiting], [false, 3])
    await noted
    assert.equal(
      linesIn(folder).map((line) => JSON.parse(line).request),
      ids,
    )
    const late = ledger.bookTogether(row(ledger.nextRequest()))
    await ledger.settle()
    await late
    assert.equal([stored.length, linesIn(folder)], [4, []])
  }))

test('while the database refuses them rows wait, and the trouble is told once and in the state', () =>
  scene(async ({ folder, ledger, stored, book, warned, failWith }) => {
    failWith(new Error('database or disk is full'))
    for (let count = 0; count < 3; count++) {
      book()
      await ledger.settle().then(
        () => assert.unreachable(),
        () => undefined,
      )
    }
    assert.equal(ledger.state(), { waiting: 3, trouble: 'database or disk is full' })
    assert.is(warned.length, 1)
    assert.match(warned[0]!, 'could not be written and waits in memory: database or disk is full')
    assert.is(linesIn(folder).length, 3)
    failWith(undefined)
    await ledger.settle()
    assert.is(stored.length, 3)
    assert.equal(ledger.state(), { waiting: 0, trouble: undefined })
    assert.equal(linesIn(folder), [])
  }))

test('another process that writes for a moment is no trouble', () =>
  scene(async ({ ledger, stored, book, warned, failWith }) => {
    failWith(new AppError('busy', 'The database is in use by another process'))
    book()
    await ledger.settle().catch(() => undefined)
    assert.equal([warned, ledger.state().trouble, ledger.state().waiting], [[], undefined, 1])
    failWith(undefined)
    await ledger.settle()
    assert.is(stored.length, 1)
  }))

test('a journal that cannot be written loses no row that the database takes', () =>
  scene(async ({ folder, ledger, stored, book, warned }) => {
    writeFileSync(join(folder, 'usage'), 'a file in the place of the folder')
    book()
    book()
    assert.is(warned.length, 1)
    assert.match(warned[0]!, 'a crash would lose rows')
    await ledger.settle()
    assert.is(stored.length, 2)
  }))

test('rows of a command without a database wait in its journal for a process that has one', () =>
  scene(async ({ folder, ledger, stored }) => {
    const journal = openUsageJournal(folder)
    const command = createLedger({ journal, store: () => undefined, warn: assert.unreachable, now: () => 0 })
    command.book(row(command.nextRequest()))
    await command.close()
    const [name = ''] = readdirSync(join(folder, 'usage'))
    // As if that process had ended before this one began.
    leave(folder, name.replace(/^pid\d+-\d+/, `pid${gone}-1`))
    await ledger.settle()
    assert.is(stored.length, 1)
    assert.equal(readdirSync(join(folder, 'usage')), [])

    function leave(home: string, as: string): void {
      writeFileSync(join(home, 'usage', as), readFileSync(join(home, 'usage', name)))
      rmSync(join(home, 'usage', name))
    }
  }))

test('a journal is left alone while its process lives, and taken over when another has its number', () =>
  scene(async ({ folder, ledger, stored }) => {
    const write = (name: string, request: string) => {
      mkdirSync(join(folder, 'usage'), { recursive: true })
      const path = join(folder, 'usage', name)
      writeFileSync(path, `${JSON.stringify(row(request))}\n`)
      return path
    }
    const parent = write(`pid${process.ppid}-0-living01.jsonl`, 'of a living process')
    await ledger.settle()
    assert.equal(stored, [])
    assert.ok(existsSync(parent))
    // In a container each process may have the number of one before, which began at another time.
    const before = write(`pid${process.pid}-1-before01.jsonl`, 'of a process before')
    const earlier = write(`${process.ppid}-earlier1.jsonl`, 'of an earlier build')
    await ledger.settle()
    assert.equal(stored.map(({ request }) => request).sort(), ['of a process before', 'of an earlier build'])
    for (const path of [before, earlier]) assert.not.ok(existsSync(path), path)
  }))

test('lines that were cut off or are no rows are left out, and other programs’ files stay', () =>
  scene(async ({ folder, ledger, stored }) => {
    const places = join(folder, 'usage')
    mkdirSync(places)
    const good = JSON.stringify(row('good'))
    const odd = { ...row('odd'), amounts: { input: 1, output: -1 } }
    const wrong = [odd, { ...row('odd'), day: 'today' }, { ...row('odd'), outcome: 'lost' }, { ...row('odd'), at: 0.5 }]
    const lines = [good.slice(0, 40), good, ...wrong.map((each) => JSON.stringify(each)), good.slice(0, 60)]
    writeFileSync(join(places, `${gone}-ours0001.jsonl`), lines.join('\n'))
    const foreign = [`${gone}-foreign1.jsonl`, 'notes.txt', `${gone}-huge0001.jsonl`]
    writeFileSync(join(places, foreign[0]!), 'some text\nof another program\n')
    writeFileSync(join(places, foreign[1]!), 'notes')
    writeFileSync(join(places, foreign[2]!), 'x'.repeat(200_000))
    mkdirSync(join(places, `${gone}-folder01.jsonl`))
    await ledger.settle()
    assert.equal(pluck(stored, 'request'), ['good'])
    assert.equal(readdirSync(places).sort(), [...foreign, `${gone}-folder01.jsonl`].sort())
  }))

test('a journal whose file was removed elsewhere is made anew', () =>
  scene(async ({ folder, ledger, book }) => {
    book()
    for (const name of readdirSync(join(folder, 'usage'))) rmSync(join(folder, 'usage', name))
    await ledger.settle()
    book()
    assert.is(linesIn(folder).length, 1)
  }))

test.run()

/** A process id that no process has: beyond the most that Linux gives. */
const gone = 4_194_305

interface Scene {
  readonly folder: string
  readonly ledger: ReturnType<typeof createLedger>
  readonly stored: LedgerRow[]
  readonly warned: string[]
  /** Books a row; gives back its id. */
  book(): string
  failWith(reason: Error | undefined): void
}

/** A ledger over a journal in a folder of its own and a store that can refuse. */
async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const stored: LedgerRow[] = []
  const warned: string[] = []
  let failure: Error | undefined
  const store: Pick<LedgerStore, 'append'> = {
    append: async (rows) => {
      if (failure) throw failure
      stored.push(...rows)
      return rows.length
    },
  }
  const journal = openUsageJournal(folder)
  await using ledger = closing(
    createLedger({ journal, store: () => store, warn: (text) => void warned.push(text), now: () => 0 }),
  )
  await work({
    folder,
    ledger,
    stored,
    warned,
    book() {
      const id = ledger.nextRequest()
      ledger.book(row(id))
      return id
    },
    failWith: (reason) => {
      failure = reason
    },
  })
}

function linesIn(folder: string): readonly string[] {
  return readdirSync(join(folder, 'usage')).flatMap((name) =>
    readFileSync(join(folder, 'usage', name), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
  )
}

function row(request: string): LedgerRow {
  return attempted(request, 1, {
    ...{ model: 'gpt "4"', reservation: 'r-1', cost: { nano: null, source: null, priceId: null } },
    amounts: { input: 10, output: 5, cached: 2, serviceTier: 'flex' },
  })
}
