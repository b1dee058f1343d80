/**
 * Runs the test files in a few processes and counts the tests that ran: a process runs one file after the other, so that the
 * modules they share are loaded and compiled once. Each file stands alone too: `node dist/test/PATH.test.js`, and all of them
 * with `AICHAT_TEST_ALONE=1`, which gives each file a process of its own.
 * uvu's exit code alone is not enough: a file that runs nothing and a throwing `before` hook both exit 0.
 *
 *   run.js              the first tier (`runner/tiers.ts`)
 *   run.js --all        all files
 *   run.js WORD…        the files with a WORD in their path, of both tiers
 *   run.js --ship-times writes the times of this machine's last runs into the sources
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sharedPostgres } from './runner/postgres.ts'
import { type Result, type Run, startProcess, type TestProcess } from './runner/process.ts'
import { dealRooms, nextOf } from './runner/queues.ts'
import { isAlone, leftOutNote, reasonOf, sourceOf } from './runner/tiers.ts'
import { keepTimes, nameOf, readTimes, shipTimes } from './runner/times.ts'

/** Milliseconds. A test file that needs longer hangs, also on a busy machine: its process group is ended and it counts as failed. */
const limitMs = Number(process.env['AICHAT_TEST_LIMIT_MS'] ?? 480_000)

const areAlone = process.env['AICHAT_TEST_ALONE'] !== undefined

/**
 * With `AICHAT_TEST_AGAIN=1`, as in CI, failed files run a second time, each alone at the end. One that passes then is named
 * as unsteady: its failure is printed, and is a fault of the test or of the program all the same.
 */
const runsAgain = process.env['AICHAT_TEST_AGAIN'] !== undefined

/** More failed files than this are no accident of timing: none runs again. */
const mostAgain = 5

const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
const givenFolder = process.env['AICHAT_TEST_FOLDER']
const folder = givenFolder ?? dirname(fileURLToPath(import.meta.url))
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'))
const isFirstTier = words.length === 0 && !flags.includes('--all')
const times = readTimes(root)
const sources = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.test\.[jt]s$/.test(file))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .map((file) => [file, sourceOf(root, folder, file)]),
)
const leftOut = [...sources].filter(([, source]) => isFirstTier && reasonOf(source))
for (const [file] of leftOut) sources.delete(file)
// The longest first, so that none of them runs alone at the end; a file without a time is new, or short.
const secondsOf = (file: string) => times[nameOf(file)] ?? 0
const files = [...sources.keys()].sort((one, other) => secondsOf(other) - secondsOf(one) || (one < other ? -1 : 1))

const unknown = flags.filter((flag) => flag !== '--all' && flag !== '--ship-times')
if (unknown.length > 0) {
  process.stderr.write(`The tests have no option ${unknown.join(', ')}; there are --all and --ship-times.\n`)
  process.exit(64)
}
if (flags.includes('--ship-times')) {
  shipTimes(root, times)
  process.exit()
}

const scratch = openScratch()
const postgres = sharedPostgres(scratch)
const started = Date.now()
let cpu = 0
const results = new Map<string, Result>()
const seconds: Record<string, number> = {}
// One worker more than cores: many tests wait for processes and timers.
const workers = Math.max(2, availableParallelism()) + 1
const queues = dealRooms(files, secondsOf, workers)
await Promise.all(queues.map((_, own) => work(own)))
const unsteady = runsAgain ? await runFailedAgain() : []
await postgres.close()
removeScratch()
if (!givenFolder) keepTimes(root, seconds)

const total = (field: 'passed' | 'failed' | 'skipped') =>
  [...results.values()].reduce((sum, result) => sum + result[field], 0)
if (files.length === 0) process.stdout.write(`No test file matches ${words.join(' ') || folder}\n`)
process.stdout.write(`\n${files.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s${cpuNote(cpu)}\n`)
if (isFirstTier) {
  const whole = leftOut.map(([, source]) => reasonOf(source))
  const parts = [...sources.values()].map((source) => reasonOf(source, 'tests'))
  process.stdout.write(`${leftOutNote(whole.filter(isSome), parts.filter(isSome))}\n`)
}
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped\n`)
if (unsteady.length > 0)
  process.stdout.write(`${unsteady.length} unsteady, passed at the second attempt: ${unsteady.join(' ')}\n`)
process.exitCode = total('failed') > 0 || total('passed') + total('skipped') === 0 ? 1 : 0

/**
 * The folder for the temporary files of all tests: in memory where the system has room for it (Linux: a `/dev/shm` with 4 GiB
 * free, four times what the tests need), since the databases of the tests wait for the disk at each commit; `TMPDIR` chooses
 * another place.
 */
function openScratch(): string {
  const memory = '/dev/shm'
  const isRoomy = () => {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= 4 * 2 ** 30
  }
  const isInMemory = process.env['TMPDIR'] === undefined && existsSync(memory) && isRoomy()
  const folder = mkdtempSync(join(isInMemory ? memory : tmpdir(), 'aichat-suite-'))
  // Lets the servers that refuse to run as root reach their own folders below it, which they know by name.
  chmodSync(folder, 0o711)
  return folder
}

function removeScratch(): void {
  try {
    rmSync(scratch, { recursive: true, force: true })
  } catch {
    // A file system that a killed test mounted there.
  }
}

/** Runs files until none is left, those of its own queue first. */
async function work(own: number): Promise<void> {
  let shared: TestProcess | undefined
  const ran: string[] = []
  for (let file = nextOf(queues, own); file; file = nextOf(queues, own)) {
    const begun = Date.now()
    const hasOwnProcess = areAlone || isAlone(sources.get(file)!)
    if (!hasOwnProcess && !shared?.isFit()) {
      await shared?.end()
      shared = start()
      ran.length = 0
    }
    const testProcess = hasOwnProcess ? start() : shared!
    const result = await testProcess.run(join(folder, file))
    if (hasOwnProcess) await testProcess.end()
    else ran.push(file)
    note(file, result, begun, hasOwnProcess ? [] : ran.slice(0, -1))
  }
  await shared?.end()
}

/** Runs the failed files once more, one after the other; resolves with those that passed. */
async function runFailedAgain(): Promise<string[]> {
  const failed = files.filter((file) => results.get(file)!.failed > 0)
  if (failed.length > mostAgain) return []
  for (const file of failed) {
    const begun = Date.now()
    const testProcess = start()
    const result = await testProcess.run(join(folder, file))
    await testProcess.end()
    note(file, result, begun, [])
  }
  return failed.filter((file) => results.get(file)!.failed === 0)
}

/** Counts what a file did in place of its earlier attempt, and prints it. `before` ran in the same process. */
function note(file: string, result: Run, begun: number, before: readonly string[]): void {
  const { passed, failed, skipped, report } = result
  const again = results.has(file) ? ' again' : ''
  cpu += result.cpu
  results.set(file, result)
  seconds[nameOf(file)] = (Date.now() - begun) / 1000
  const took = `${seconds[nameOf(file)]!.toFixed(1)} s${cpuNote(result.cpu)}`
  const counts = `${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ''}, ${took}`
  process.stdout.write(`${failed > 0 ? 'FAIL' : 'ok  '} ${file}${again} (${counts})\n`)
  if (failed > 0) {
    process.stdout.write(`${report.trimEnd()}\n`)
    if (before.length > 0) process.stdout.write(`Before it in its process: ${before.join(' ')}\n`)
    process.stdout.write('\n')
  } else for (const line of report.match(/^(?:note|skipped): .*$/gm) ?? []) process.stdout.write(`     ${line}\n`)
}

function start(): TestProcess {
  const { FORCE_COLOR: _colour, AICHAT_HOME: _home, AICHAT_SERVER: _server, ...env } = process.env
  const tier = isFirstTier ? 'first' : 'all'
  return startProcess({ ...env, NO_COLOR: '1', TMPDIR: scratch, AICHAT_TEST_TIER: tier }, limitMs, postgres.answer)
}

function isSome<T>(value: T | undefined): value is T {
  return value !== undefined
}

function cpuNote(seconds: number): string {
  return seconds > 0 ? `, ${seconds.toFixed(1)} s of CPU` : ''
}
