import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { answerTo, isQuestion } from './question.ts'

export interface Result {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly report: string
}

export interface Run extends Result {
  /** Seconds of the cores that the file and the processes it waited for used; 0 where the system does not tell. */
  readonly cpu: number
}

export interface TestProcess {
  /** Whether it can run another file: it has not ended and is not too large. */
  readonly isFit: () => boolean
  run(file: string): Promise<Run>
  /** Ends it, and processes that its files left running. Resolves with its exit code. */
  end(): Promise<number | null>
}

/** Bytes of memory at which a process is replaced by a new one: a small machine runs three of them. */
const largest = 700 * 2 ** 20

const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
const childModule = fileURLToPath(new URL(`./child${ending}`, import.meta.url))

/**
 * Starts one. A file that takes longer than `limitMs` ends it with its children and counts as failed. `find` answers questions
 * of its files, see question.ts.
 */
export function startProcess(
  environment: NodeJS.ProcessEnv,
  limitMs: number,
  find: (question: string) => Promise<unknown> = async () => undefined,
): TestProcess {
  // No file can print it by chance.
  const mark = `end of the file ${process.pid} ${Math.random()}`
  const child = spawn(process.execPath, [...(ending === '.ts' ? ['--import', 'tsx'] : []), childModule], {
    env: { ...environment, AICHAT_TEST_MARK: mark },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  const closed = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      endGroup(child.pid)
      resolve(code)
    })
  })
  const ready = new Promise((resolve) => child.once('message', resolve))
  child.on('message', async (message) => {
    if (!isQuestion(message)) return
    const answer = await answerTo(message, find)
    if (child.connected) child.send(answer)
  })
  const heard = { stdout: '', stderr: '' }
  let onHeard = () => {}
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      heard[name] += text
      onHeard()
    })
  const endLine = new RegExp(`\\n${mark.replaceAll('.', '\\.')} (\\d+) (\\d+)\\n`)
  let size = 0
  let hasEnded = false
  void closed.then(() => {
    hasEnded = true
  })
  return {
    isFit: () => !hasEnded && size < largest,
    async run(file) {
      const before = cpuOf(child.pid)
      heard.stdout = ''
      heard.stderr = ''
      const marked = new Promise<number>((resolve) => {
        onHeard = () => {
          const end = endLine.exec(heard.stdout)
          if (!end || !endLine.test(heard.stderr)) return
          size = Number(end[2])
          resolve(Number(end[1]))
        }
      })
      let late = ''
      const timer = setTimeout(() => {
        late = `\nStill running after ${limitMs / 1000} s: ended.\n`
        endGroup(child.pid)
      }, limitMs)
      await Promise.race([ready, closed])
      if (!hasEnded) child.send(pathToFileURL(file).href)
      // A process that ends by itself has not finished its file.
      const code = await Promise.race([marked, closed.then((code) => code || 1)])
      clearTimeout(timer)
      const report = `${heard.stdout}${heard.stderr}`.replaceAll(new RegExp(endLine, 'g'), '\n')
      return { ...resultOf(`${report}${late}`, code), cpu: Math.max(0, cpuOf(child.pid) - before) }
    },
    async end() {
      // A `disconnect` from this side would keep Node's `close` event from coming.
      if (child.connected) child.send('')
      const timer = setTimeout(() => endGroup(child.pid), limitMs)
      const code = await closed
      clearTimeout(timer)
      return code
    },
  }
}

/**
 * Seconds of the cores that a process and the children it waited for have used, from Linux's `/proc`: fields 14 to 17 of
 * `stat`, in hundredths of a second. 0 on other systems and for a process that is gone.
 */
function cpuOf(pid: ChildProcess['pid']): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return 0
  const stat = readFileSync(path, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100
}

/** Ends a process and those that it may have left running. */
function endGroup(pid: ChildProcess['pid']): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is gone already.
  }
}

/** Reads uvu's closing lines; anything but "every counted test passed, exit code 0" is a failure. */
function resultOf(report: string, code: number): Result {
  const count = (label: string) => Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'm').exec(report)?.[1] ?? Number.NaN)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  if (Number.isNaN(total))
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nNo closing lines: the file did not finish.` }
  if (total + skipped === 0)
    return { passed: 0, failed: 1, skipped: 0, report: `${report}\nThe file ran no test: does it call \`.run()\`?` }
  const failed = total - passed || (code === 0 ? 0 : 1)
  return { passed, failed, skipped, report }
}
