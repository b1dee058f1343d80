/**
 * Runs every test file in a process of its own and counts the tests that ran.
 * uvu's exit code alone is not enough: a file that runs nothing and a throwing `before` hook both exit 0.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Result {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly report: string
}

interface Run extends Result {
  /** Seconds of the cores that the file and its processes used; 0 where the system does not tell. */
  readonly cpu: number
}

/** A test file that needs longer hangs: its process group is ended and it counts as failed. */
const limitMs = Number(process.env['AICHAT_TEST_LIMIT_MS'] ?? 240_000)

/** The slowest files start first, so that none of them runs alone at the end. */
const slowest = [
  'flite/intelligible',
  'package/crash',
  'package/large-packages',
  'operations/packages',
  'acceptance/three-ways',
  'acceptance/serve',
  'chat/conversation',
  'persona/package',
  'persona/persona',
  'chat/faults',
  'server/embeddings',
  'speech/tts.test',
  'chat/terminal-restored',
  'pocket-tts/pull',
  'acceptance/',
  'service/serve-speech',
]

const folder = process.env['AICHAT_TEST_FOLDER'] ?? dirname(fileURLToPath(import.meta.url))
const words = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.test\.[jt]s$/.test(file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1))

const scratch = openScratch()
const started = Date.now()
/** Seconds of CPU that belong to files which have ended. */
let charged = 0
const results: Result[] = []
const queue = [...files]
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) + 1 }, work))
removeScratch()

const total = (field: 'passed' | 'failed' | 'skipped') => results.reduce((sum, result) => sum + result[field], 0)
if (files.length === 0) process.stdout.write(`No test file matches ${words.join(' ') || folder}\n`)
process.stdout.write(`\n${files.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s${cpuNote(charged)}\n`)
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped\n`)
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
  return mkdtempSync(join(isInMemory ? memory : tmpdir(), 'aichat-suite-'))
}

function removeScratch(): void {
  try {
    rmSync(scratch, { recursive: true, force: true })
  } catch {
    // A file system that a killed test mounted there.
  }
}

/** The place in the order of the slowest files; the others come after them. */
function rankOf(file: string): number {
  const rank = slowest.findIndex((part) => file.includes(part))
  return rank < 0 ? slowest.length : rank
}

/** One worker more than cores: many tests wait for processes and timers. */
async function work(): Promise<void> {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const begun = Date.now()
    const result = await runFile(file)
    results.push(result)
    const seconds = ((Date.now() - begun) / 1000).toFixed(1)
    const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : ''
    process.stdout.write(
      `${result.failed > 0 ? 'FAIL' : 'ok  '} ${file} (${result.passed} passed${skipped}, ${seconds} s${cpuNote(result.cpu)})\n`,
    )
    if (result.failed > 0) process.stdout.write(`${result.report.trimEnd()}\n\n`)
    else
      for (const line of result.report.match(/^(?:note|skipped): .*$/gm) ?? []) process.stdout.write(`     ${line}\n`)
  }
}

function runFile(file: string): Promise<Run> {
  const { FORCE_COLOR: _colour, AICHAT_HOME: _home, AICHAT_SERVER: _server, ...env } = process.env
  const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : []
  const child = spawn(process.execPath, [...loader, join(folder, file)], {
    env: { ...env, NO_COLOR: '1', TMPDIR: scratch },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let report = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      report += text
    })
  const timer = setTimeout(() => {
    report += `\nStill running after ${limitMs / 1000} s: ended.\n`
    endGroup(child.pid)
  }, limitMs)
  let cpu = 0
  child.on('exit', () => {
    cpu = cpuOfChildren() - charged
    charged += cpu
  })
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      endGroup(child.pid)
      resolve({ ...resultOf(report, code), cpu })
    })
  })
}

/**
 * Seconds of the cores that ended test files and their processes used, from Linux's count of waited-for children: fields 16
 * and 17 of `/proc/self/stat`, in hundredths of a second. 0 on other systems.
 */
function cpuOfChildren(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

function cpuNote(seconds: number): string {
  return seconds > 0 ? `, ${seconds.toFixed(1)} s of CPU` : ''
}

/** Ends processes that the test file may have left running. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
}

/** Reads uvu's closing lines; anything but "every counted test passed, exit code 0" is a failure. */
function resultOf(report: string, code: number | null): Result {
  const count = (label: string) => Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'm').exec(report)?.[1] ?? Number.NaN)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  if (Number.isNaN(total))
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nNo closing lines: the file did not finish.` }
  if (total + skipped === 0)
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nThe file ran no test: does it call \`.run()\`?` }
  const failed = total - passed || (code === 0 ? 0 : 1)
  return { passed, failed, skipped, report }
}
