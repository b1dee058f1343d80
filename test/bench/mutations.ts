/**
 * Finds tests that cannot fail: changes one place of the compiled program at a time (a condition turned, a bound moved by one, a
 * statement left out), runs the near tests of the first tier and of neural engines that run the place, and says by room which
 * share of the changes some test noticed. The program that a test starts as a process runs the changed module too. Changes that
 * are equal to the original by their nature are left out and listed (`mutations-parts/mutants.ts`).
 *
 *   AICHAT_BENCH_MUTANTS=300   how many places, at least ten of each room where it has them
 *   AICHAT_BENCH_ROOMS=chat,http   of them only those of these rooms, or in modules with such a path: `chat/key-pool`
 *   AICHAT_TEST_SEED=1         which places
 *   AICHAT_BENCH_NEAR=1        asks no tests of the rest of the room: a quick look after tests were mended
 *   AICHAT_TEST_TIER=all       asks the tests of both tiers
 *   AICHAT_BENCH_SECONDS=600   how long at most: the table holds what was tried by then, of all rooms
 *
 * Each outcome is kept in `dist/mutations-SEED.jsonl` at once: a run after one that was cut, or after the tests were mended, tries
 * only what was not noticed yet. Delete the file to try all.
 */

import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess, type TestProcess } from '../runner/process.ts'
import { reasonOf, sourceOf } from '../runner/tiers.ts'
import { nameOf, readTimes } from '../runner/times.ts'
import { type Coverage, coverageOf } from './mutations-parts/covering.ts'
import { equalBy, type Mutant, mutantsOf, mutated } from './mutations-parts/mutants.ts'
import { mulberry32 } from './parts/figures.ts'

const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
const dist = join(root, 'dist')
const count = Number(process.env['AICHAT_BENCH_MUTANTS'] ?? 300)
const seed = Number(process.env['AICHAT_TEST_SEED'] ?? 1)
const seconds = Number(process.env['AICHAT_BENCH_SECONDS'] ?? Number.POSITIVE_INFINITY)
const only = process.env['AICHAT_BENCH_ROOMS']?.split(',')
const tier = process.env['AICHAT_TEST_TIER'] ?? 'first'
const onlyNear = process.env['AICHAT_BENCH_NEAR'] === '1'

const keptIn = join(dist, `mutations-${seed}.jsonl`)

const { NODE_OPTIONS: _options, ...inherited } = process.env
/** A mutant that loops is noticed after this; a test file of the suite needs a fraction of it. */
const longestMs = 60_000

/** Rooms that are not tried: the console runs in a browser and the training at a build, both without tests in this process. */
const passedOver = ['src/console', 'src/word-vectors']

/** Where the tests of a room are beside the folder that mirrors it, the first of them first: what connects others is seen through them. */
const testedIn: Readonly<Record<string, readonly string[]>> = {
  'src/chat': ['test/server'],
  'src/formats': ['test/personas/card', 'test/personas/package', 'test/chat', 'test/server'],
  'src/server': ['test/acceptance/serve.test.js'],
  'src/app': ['test/operations', 'test/server', 'test/cli/chat'],
  'src/http': ['test/http-client', 'test/chat/faults.test.js'],
  'src/mcp-server': ['test/server'],
  'src/metrics': ['test/server'],
  'src/model-hub': ['test/cli/models'],
  'src/operations': ['test/server'],
  'src/personas': ['test/operations', 'test/server'],
  'src/plugins': ['test/server/plugins.test.js', 'test/cli/models'],
  'src/runners': ['test/server/embeddings.test.js', 'test/server/models.test.js'],
  'src/settings': ['test/cli/config'],
  'src/usage': ['test/server'],
}

/** Seconds of the cores that the tests of one place may use together: beyond it only the nearest run. */
const mostSeconds = 20

/** One that was tried: with the test that noticed it, or the reason why it was not tried. */
interface Outcome {
  readonly mutant: Mutant
  readonly noticedBy?: string | undefined
  readonly leftOut?: string | undefined
}

export async function bench(): Promise<void> {
  const near = nearTests()
  const earlier = readKept()
  const places = choose()
  const outcomes: Outcome[] = []
  const queue: Mutant[] = []
  for (const mutant of shuffled(places, 'order')) {
    const leftOut = equalBy(mutant)
    const noticedBy = earlier.get(keyOf(mutant))
    if (leftOut === undefined && noticedBy === undefined) queue.push(mutant)
    else outcomes.push({ mutant, noticedBy, leftOut })
  }
  const known = readCoverage(places)
  const coverages = new Map<string, Promise<Coverage>>()
  const end = Date.now() + seconds * 1000
  const workers = Array.from({ length: Math.max(1, availableParallelism()) }, async (_, number) => {
    const copy = join(dist, `mutants-${number}`)
    rmSync(copy, { recursive: true, force: true })
    for (const folder of ['src', 'speech', 'test']) cpSync(join(dist, folder), join(copy, folder), { recursive: true })
    const environment = environmentIn(copy)
    try {
      for (let mutant = queue.shift(); mutant && Date.now() < end; mutant = queue.shift()) {
        const noticedBy = await firstToNotice(mutant, near(mutant.file), copy, environment, (test) => {
          const coverage =
            coverages.get(test) ?? known(test, () => coverageOf(test, copy, places, environment, longestMs))
          coverages.set(test, coverage)
          return coverage
        })
        outcomes.push({ mutant, noticedBy })
        printPlace(mutant, noticedBy)
        keep({ place: keyOf(mutant), noticedBy: noticedBy ?? '' })
      }
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  })
  await Promise.all(workers)
  for (const [test, coverage] of coverages)
    if (!(await coverage).passes) process.stdout.write(`not asked: ${test} fails on the unchanged program\n`)
  for (const { mutant, leftOut } of outcomes)
    if (leftOut) process.stdout.write(`left out: ${mutant.file}:${mutant.line}  ${mutant.lines[0]}  (${leftOut})\n`)
  printTable(outcomes)
}

/** Runs the near tests that run the place, one after the other, on the changed module; resolves with the first that fails. */
async function firstToNotice(
  mutant: Mutant,
  tests: readonly string[],
  copy: string,
  environment: NodeJS.ProcessEnv,
  coverage: (test: string) => Promise<Coverage>,
): Promise<string | undefined> {
  const path = join(copy, mutant.file)
  const original = readFileSync(path, 'utf8')
  const changed = mutated(original, mutant)
  // A process that is killed writes no coverage: what runs in such a child, or seems to run nowhere, is tried with all tests
  // beside it.
  const isInChild = /^src\/process\/|-child\.js$/.test(mutant.file)
  const isBeside = (test: string) => dirname(test) === mirrorOf(dirname(mutant.file))
  const isUnseen = async () => {
    for (const test of tests) if ((await coverage(test)).places.has(mutant)) return false
    return true
  }
  const mayRun = isInChild || (await isUnseen()) ? isBeside : () => false
  let sum = 0
  let testProcess: TestProcess | undefined
  try {
    for (const test of tests) {
      const { passes, seconds, places } = await coverage(test)
      if (!passes || !(places.has(mutant) || mayRun(test)) || (sum > 0 && sum + seconds > mostSeconds)) continue
      sum += seconds
      if (!testProcess?.isFit()) testProcess = startProcess(environment, longestMs)
      // Only while the test runs: between, this copy tells which places an other test runs.
      writeFileSync(path, changed)
      const { failed } = await testProcess.run(join(copy, test))
      writeFileSync(path, original)
      if (failed > 0) return test
    }
    return undefined
  } finally {
    await testProcess?.end()
    writeFileSync(path, original)
  }
}

/** The environment of tests of a copy, in which they start the program from the copy's modules and not from the bundle. */
function environmentIn(copy: string): NodeJS.ProcessEnv {
  const launcher = join(copy, 'aichat.js')
  const text = readFileSync(join(root, 'bin', 'aichat'), 'utf8')
  writeFileSync(launcher, text.replace(/'#(main|complete)'/g, "'./src/cli/$1.js'"))
  return { ...inherited, NO_COLOR: '1', AICHAT_TEST_TIER: tier, AICHAT_TEST_LAUNCHER: launcher }
}

/** What an earlier run found out, in the file of this seed. */
type Kept =
  | { readonly place: string; readonly noticedBy: string }
  | {
      readonly coverage: string
      readonly passes: boolean
      readonly seconds: number
      readonly places: readonly string[]
    }

function kept(): readonly Kept[] {
  if (!existsSync(keptIn)) return []
  return readFileSync(keptIn, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Kept)
}

function keep(line: Kept): void {
  appendFileSync(keptIn, `${JSON.stringify(line)}\n`)
}

/** Which test noticed each place of earlier runs with the same seed; those that none noticed are not in it. */
function readKept(): ReadonlyMap<string, string> {
  return new Map(kept().flatMap((line) => ('place' in line && line.noticedBy ? [[line.place, line.noticedBy]] : [])))
}

/**
 * Finds the coverage of a test file that an earlier run kept, and else keeps that which is made now. It holds while the test file,
 * the helpers, the program and the places are the same.
 */
function readCoverage(places: readonly Mutant[]) {
  const byKey = new Map(kept().flatMap((line) => ('coverage' in line ? [[line.coverage, line]] : [])))
  const shared = createHash('sha256').update(places.map(keyOf).join('\n'))
  const tests = new Map<string, Buffer>()
  for (const folder of ['src', 'speech', 'test'])
    for (const entry of readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!entry.endsWith('.js') || entry.startsWith('bench')) continue
      const content = readFileSync(join(dist, folder, entry))
      if (entry.endsWith('.test.js')) tests.set(join(folder, entry), content)
      else shared.update(content)
    }
  const program = shared.digest('hex')
  return async (test: string, make: () => Promise<Coverage>): Promise<Coverage> => {
    const content = tests.get(test)
    if (!content) return make()
    const key = createHash('sha256').update(program).update(tier).update(test).update(content).digest('hex')
    const found = byKey.get(key)
    if (found) return { ...found, places: new Set(places.filter((place) => found.places.includes(keyOf(place)))) }
    const made = await make()
    keep({ ...made, coverage: key, places: [...made.places].map(keyOf) })
    return made
  }
}

/** The same for the same change of the same line, wherever the line is now. */
function keyOf({ file, lines }: Mutant): string {
  return [file, ...lines].join('\n')
}

/** The places: of each room a share by its size, and at least ten. The same for the same seed and sources, whichever rooms. */
function choose(): readonly Mutant[] {
  const byRoom = new Map<string, Mutant[]>()
  for (const folder of ['src', 'speech'])
    for (const entry of readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      const file = join(folder, entry)
      if (!file.endsWith('.js') || passedOver.some((room) => file.startsWith(room))) continue
      const room = roomOf(file)
      byRoom.set(room, [...(byRoom.get(room) ?? []), ...mutantsOf(file, readFileSync(join(dist, file), 'utf8'))])
    }
  const all = [...byRoom.values()].reduce((sum, mutants) => sum + mutants.length, 0)
  return [...byRoom].flatMap(([room, mutants]) => {
    const share = Math.max(10, Math.round((count * mutants.length) / all))
    const isAsked = ({ file }: Mutant) =>
      !only || only.some((name) => room.endsWith(name) || file.endsWith(`${name}.js`))
    return shuffled(mutants, room).slice(0, share).filter(isAsked)
  })
}

/** In an order that follows from the seed and the salt. */
function shuffled(mutants: readonly Mutant[], salt: string): Mutant[] {
  const random = mulberry32(
    seed + [...salt].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 1_000_003, 0),
  )
  const left = [...mutants]
  return mutants.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!)
}

/** `src/chat`, `speech/engines`; a file beside the rooms counts as `src`. */
function roomOf(file: string): string {
  return dirname(file).split('/').slice(0, 2).join('/')
}

/**
 * The tests near a module, of the first tier, the nearest first: that of its name, those that import it, those of the folder that
 * mirrors its own, those of its room; the quickest first among equals.
 */
function nearTests(): (file: string) => readonly string[] {
  const imports = importsOfTests()
  const times = readTimes(root)
  const secondsOf = (test: string) => times[nameOf(relative('test', test))] ?? 0
  const tests = [...imports.keys()].sort((one, other) => secondsOf(one) - secondsOf(other))
  return (file) => {
    const mirror = mirrorOf(dirname(file))
    const own = join(mirror, basename(file).replace(/\.js$/, '.test.js'))
    const nearest = [own, ...tests.filter((test) => imports.get(test)!.has(file))].filter((test) =>
      tests.includes(test),
    )
    const beside = tests.filter((test) => dirname(test) === mirror)
    if (onlyNear) return [...new Set([...nearest, ...beside])]
    const rooms = [mirrorOf(roomOf(file)), ...(testedIn[roomOf(file)] ?? [])]
    const inRooms = rooms.flatMap((room) => tests.filter((test) => test === room || test.startsWith(`${room}/`)))
    return [...new Set([...nearest, ...beside, ...inRooms])]
  }
}

/** Which modules each test file of the first tier, or of a neural engine, imports, itself or through what is beside it. */
function importsOfTests(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = readdirSync(join(dist, 'test'), { recursive: true, encoding: 'utf8' }).filter((entry) =>
    entry.endsWith('.js'),
  )
  const direct = new Map(files.map((file) => [join('test', file), modulesIn(join('test', file))]))
  const isAsked = (file: string) => {
    const reason = reasonOf(sourceOf(root, join(dist, 'test'), file))
    return tier === 'all' || reason === undefined || reason === 'a neural engine'
  }
  const tests = files.filter((file) => file.endsWith('.test.js') && isAsked(file))
  return new Map(
    tests.map((file) => {
      const own = direct.get(join('test', file))!
      const beside = own.filter((module) => module.startsWith('test/') && !module.startsWith('test/helpers/'))
      return [join('test', file), new Set([...own, ...beside.flatMap((module) => direct.get(module) ?? [])])]
    }),
  )
}

function modulesIn(file: string): string[] {
  const text = readFileSync(join(dist, file), 'utf8')
  return [...text.matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g)].map(({ 1: path }) => join(dirname(file), path!))
}

/** `src/chat/dialects` is mirrored by `test/chat/dialects`, `speech/text` by `test/speech/text`. */
function mirrorOf(folder: string): string {
  return folder.replace(/^src/, 'test').replace(/^speech/, 'test/speech')
}

function printPlace({ file, line, lines: [before, after] }: Mutant, test: string | undefined): void {
  const change = `${before}\n          ${after === ';' ? '(left out)' : after}`
  process.stdout.write(
    test ? `noticed   ${file}:${line}  (${test})\n` : `unnoticed ${file}:${line}\n          ${change}\n`,
  )
}

function printTable(outcomes: readonly Outcome[]): void {
  const row = (name: string, of: readonly Outcome[]) => {
    const tried = of.filter(({ leftOut }) => leftOut === undefined)
    const caught = tried.filter(({ noticedBy }) => noticedBy !== undefined).length
    if (of.length === 0) return
    const share = tried.length > 0 ? `${Math.round((100 * caught) / tried.length)} %` : '–'
    process.stdout.write(`| ${name} | ${caught} | ${tried.length} | ${of.length - tried.length} | ${share} |\n`)
  }
  process.stdout.write('\n| room | noticed | tried | left out | share |\n|---|---|---|---|---|\n')
  for (const room of [...new Set(outcomes.map(({ mutant }) => roomOf(mutant.file)))].sort())
    row(
      room,
      outcomes.filter(({ mutant }) => roomOf(mutant.file) === room),
    )
  for (const kind of ['condition', 'bound', 'statement'] as const)
    row(
      kind,
      outcomes.filter(({ mutant }) => mutant.kind === kind),
    )
  row('all', outcomes)
}
