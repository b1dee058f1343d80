/**
 * Finds tests that cannot fail: changes one place of the compiled program at a time (a condition turned, a bound moved by one, a
 * statement left out), runs the tests that mirror the module, and says by room which share of the changes some test noticed.
 * The program that a test starts as a process is the unchanged bundle: what only such tests cover counts as unnoticed.
 *
 *   AICHAT_BENCH_MUTANTS=300   how many places, at least ten of each room where it has them
 *   AICHAT_BENCH_ROOMS=chat,http   only these rooms
 *   AICHAT_TEST_SEED=1         which places
 *   AICHAT_BENCH_SECONDS=600   how long at most: the table holds what was tried by then, of all rooms
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess, type TestProcess } from '../runner/process.ts'
import { nameOf, readTimes } from '../runner/times.ts'
import { type Mutant, mutantsOf, mutated } from './mutations-parts/mutants.ts'

const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
const dist = join(root, 'dist')
const count = Number(process.env['AICHAT_BENCH_MUTANTS'] ?? 300)
const seed = Number(process.env['AICHAT_TEST_SEED'] ?? 1)
const seconds = Number(process.env['AICHAT_BENCH_SECONDS'] ?? Number.POSITIVE_INFINITY)
const only = process.env['AICHAT_BENCH_ROOMS']?.split(',')

const random = randomOf(seed)

/** A mutant that loops is noticed after this; a test file of the suite needs a fraction of it. */
const limitMs = 90_000

/** Rooms without tests of their own in this process: the console runs in a browser, the training at a build. */
const passedOver = ['src/console', 'src/word-vectors']

/** Where the tests of a room are that no folder mirrors: it connects the others, and is seen through them. */
const testedIn: Readonly<Record<string, readonly string[]>> = {
  'src/app': ['test/operations', 'test/server', 'test/cli/chat'],
  'src/otlp': ['test/server'],
}

/** Seconds that the tests of one place may take together, as they took in the last run: beyond it only the nearest run. */
const mostSeconds = 60

export async function bench(): Promise<void> {
  const imports = importsOfTests()
  const times = readTimes(root)
  const chosen = choose()
  const noticed = new Map<Mutant, string | undefined>()
  const queue = shuffled(chosen)
  const end = Date.now() + seconds * 1000
  const workers = Array.from({ length: Math.max(1, availableParallelism()) }, async (_, number) => {
    const copy = join(dist, `mutants-${number}`)
    rmSync(copy, { recursive: true, force: true })
    for (const folder of ['src', 'speech', 'test']) cpSync(join(dist, folder), join(copy, folder), { recursive: true })
    try {
      for (let mutant = queue.shift(); mutant && Date.now() < end; mutant = queue.shift()) {
        const tests = affordable(testsOf(mutant.file, imports))
        noticed.set(mutant, await noticedBy(mutant, tests, copy))
        printPlace(mutant, noticed.get(mutant))
      }
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  })
  await Promise.all(workers)
  printTable([...noticed.keys()], noticed)

  /** The nearest that fit into the time, the quickest of them first. */
  function affordable(tests: readonly string[]): readonly string[] {
    const secondsOf = (test: string) => times[nameOf(relative('test', test))] ?? 0
    let sum = 0
    return tests
      .filter((test, at) => {
        sum += secondsOf(test)
        return at === 0 || sum <= mostSeconds
      })
      .sort((one, other) => secondsOf(one) - secondsOf(other))
  }
}

/** Runs the tests on the changed module, one after the other; resolves with the first that fails. */
async function noticedBy(mutant: Mutant, tests: readonly string[], copy: string): Promise<string | undefined> {
  const path = join(copy, mutant.file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(original, mutant))
  const { NODE_OPTIONS: _options, ...environment } = process.env
  let testProcess: TestProcess | undefined
  try {
    for (const test of tests) {
      if (!testProcess?.isFit()) testProcess = startProcess({ ...environment, NO_COLOR: '1' }, limitMs)
      const { failed } = await testProcess.run(join(copy, test))
      if (failed > 0) return test
    }
    return undefined
  } finally {
    await testProcess?.end()
    writeFileSync(path, original)
  }
}

/** The places: of each room a share by its size, and at least ten. The same for the same seed and sources. */
function choose(): readonly Mutant[] {
  const byRoom = new Map<string, Mutant[]>()
  for (const folder of ['src', 'speech'])
    for (const entry of readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      const file = join(folder, entry)
      if (!file.endsWith('.js') || passedOver.some((room) => file.startsWith(room))) continue
      const room = roomOf(file)
      if (only && !only.some((name) => room.endsWith(name))) continue
      byRoom.set(room, [...(byRoom.get(room) ?? []), ...mutantsOf(file, readFileSync(join(dist, file), 'utf8'))])
    }
  const all = [...byRoom.values()].reduce((sum, mutants) => sum + mutants.length, 0)
  return [...byRoom.values()].flatMap((mutants) => {
    const share = Math.max(10, Math.round((count * mutants.length) / all))
    return shuffled(mutants).slice(0, share)
  })
}

function shuffled(mutants: readonly Mutant[]): Mutant[] {
  const left = [...mutants]
  return mutants.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!)
}

/** `src/chat`, `speech/engines`; a file beside the rooms counts as `src`. */
function roomOf(file: string): string {
  return dirname(file).split('/').slice(0, 2).join('/')
}

/** Which modules each test file imports, itself or through the helpers beside it. */
function importsOfTests(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = readdirSync(join(dist, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((entry) => entry.endsWith('.js') && !entry.startsWith('bench'))
    .map((entry) => join('test', entry))
  const direct = new Map(files.map((file) => [file, modulesIn(file)]))
  const tests = files.filter((file) => file.endsWith('.test.js'))
  return new Map(
    tests.map((test) => {
      const own = direct.get(test)!
      const beside = own.filter((file) => file.startsWith('test/') && !file.startsWith('test/helpers/'))
      return [test, new Set([...own, ...beside.flatMap((file) => direct.get(file) ?? [])])]
    }),
  )
}

function modulesIn(file: string): string[] {
  const text = readFileSync(join(dist, file), 'utf8')
  return [...text.matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g)].map(({ 1: path }) => join(dirname(file), path!))
}

/** The tests of a module, the nearest first: of its name, those that import it, those of the nearest folder that mirrors its own. */
function testsOf(file: string, imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const tests = [...imports.keys()]
  const folders = testedIn[roomOf(file)] ?? [mirrorOf(file)].filter((folder) => folder !== 'test')
  const named = tests.filter((test) => basename(test) === basename(file).replace(/\.js$/, '.test.js'))
  const importers = tests.filter((test) => imports.get(test)!.has(file))
  const near = folders.flatMap((folder) => tests.filter((test) => dirname(test) === folder))
  return [...new Set([...named.filter((test) => folders.includes(dirname(test))), ...importers, ...near])]
}

/** `src/chat/dialects/x.js` is mirrored in `test/chat/dialects`, or in `test/chat` where that has no tests. */
function mirrorOf(file: string): string {
  let folder = dirname(file)
    .replace(/^src/, 'test')
    .replace(/^speech/, 'test/speech')
  const hasTests = (place: string) =>
    existsSync(join(dist, place)) && readdirSync(join(dist, place)).some((name) => name.endsWith('.test.js'))
  while (folder !== 'test' && !hasTests(folder)) folder = dirname(folder)
  return folder
}

function printPlace(mutant: Mutant, test: string | undefined): void {
  const change = `${mutant.before.trim()} → ${mutant.after === ';' ? 'nothing' : mutant.after}`
  const place = `${mutant.file}:${mutant.line}`
  process.stdout.write(`${test ? 'noticed  ' : 'unnoticed'} ${place}  ${change}${test ? `  (${test})` : ''}\n`)
}

function printTable(chosen: readonly Mutant[], noticed: ReadonlyMap<Mutant, string | undefined>): void {
  const row = (name: string, mutants: readonly Mutant[]) => {
    const caught = mutants.filter((mutant) => noticed.get(mutant)).length
    if (mutants.length === 0) return
    const share = Math.round((100 * caught) / mutants.length)
    process.stdout.write(`| ${name} | ${mutants.length} | ${caught} | ${share} % |\n`)
  }
  process.stdout.write('\n| room | places | noticed | share |\n|---|---|---|---|\n')
  for (const room of [...new Set(chosen.map(({ file }) => roomOf(file)))].sort())
    row(
      room,
      chosen.filter(({ file }) => roomOf(file) === room),
    )
  for (const kind of ['condition', 'bound', 'statement'] as const)
    row(
      kind,
      chosen.filter((mutant) => mutant.kind === kind),
    )
  row('all', chosen)
}

/** Mulberry32: the same numbers from 0 to 1 for the same seed on every machine. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
