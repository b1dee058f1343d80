/**
 * Runs every test file in a process of its own and counts what really ran.
 * uvu's exit code alone is no verdict: a file that runs nothing and a throwing `before` hook both exit 0.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Verdict {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly report: string
}

/** A test file that needs longer hangs: its process group is ended and it counts as failed. */
const limitMs = Number(process.env['AICHAT_TEST_LIMIT_MS'] ?? 240_000)

const folder = process.env['AICHAT_TEST_FOLDER'] ?? dirname(fileURLToPath(import.meta.url))
const words = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.test\.[jt]s$/.test(file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort()

const started = Date.now()
const verdicts: Verdict[] = []
const queue = [...files]
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work))

const total = (field: 'passed' | 'failed' | 'skipped') => verdicts.reduce((sum, verdict) => sum + verdict[field], 0)
if (files.length === 0) process.stdout.write(`No test file matches ${words.join(' ') || folder}\n`)
process.stdout.write(`\n${files.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped\n`)
process.exitCode = total('failed') > 0 || total('passed') + total('skipped') === 0 ? 1 : 0

async function work(): Promise<void> {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const begun = Date.now()
    const verdict = await runFile(file)
    verdicts.push(verdict)
    const seconds = ((Date.now() - begun) / 1000).toFixed(1)
    const skipped = verdict.skipped > 0 ? `, ${verdict.skipped} skipped` : ''
    process.stdout.write(
      `${verdict.failed > 0 ? 'FAIL' : 'ok  '} ${file} (${verdict.passed} passed${skipped}, ${seconds} s)\n`,
    )
    if (verdict.failed > 0) process.stdout.write(`${verdict.report.trimEnd()}\n\n`)
    else
      for (const line of verdict.report.match(/^(?:note|skipped): .*$/gm) ?? []) process.stdout.write(`     ${line}\n`)
  }
}

function runFile(file: string): Promise<Verdict> {
  const { FORCE_COLOR: _colour, AICHAT_HOME: _home, AICHAT_SERVER: _server, ...env } = process.env
  const loader = file.endsWith('.ts') ? ['--import', 'tsx'] : []
  const child = spawn(process.execPath, [...loader, join(folder, file)], {
    env: { ...env, NO_COLOR: '1' },
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
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      endGroup(child.pid)
      resolve(judge(report, code))
    })
  })
}

/** Ends what the test file may have left running; there is usually nothing. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
}

/** Reads uvu's closing lines; anything but "every counted test passed, exit code 0" is a failure. */
function judge(report: string, code: number | null): Verdict {
  const count = (label: string) => Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'm').exec(report)?.[1] ?? Number.NaN)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  if (Number.isNaN(total))
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nNo closing lines: the file did not finish.` }
  if (total + skipped === 0)
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nThe file ran no test: does it call \`.run()\`?` }
  const failed = total - passed || (code === 0 ? 0 : 1)
  return { passed, failed, skipped, report }
}
