import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contestant } from './contestant.ts'
import { ask, bodyOf, type Kind } from './exchange.ts'

export interface Round {
  readonly requests: number
  readonly perSecond: number
  /** CPU seconds of the contestant's processes per 1,000 requests; the load generator's are its own. */
  readonly cpuPerThousand: number
  /** Those of the process that took most: where each has a core of its own, this bounds the throughput. */
  readonly busiestPerThousand: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** One round of wrk against a contestant. Throws when an answer was not 200 or not of the expected length. */
export async function load(contestant: Contestant, kind: Kind, connections: number, seconds: number): Promise<Round> {
  const { received: expected } = await ask(contestant, kind)
  const script = join(tmpdir(), `aichat-bench-${process.pid}.lua`)
  const headers = { 'content-type': 'application/json', ...contestant.headers }
  writeFileSync(
    script,
    [
      `wrk.method = "POST"`,
      `wrk.body = ${JSON.stringify(bodyOf(contestant, kind))}`,
      ...Object.entries(headers).map(
        ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
      ),
    ].join('\n'),
  )
  const processes = [contestant.pid, ...childrenOf(contestant.pid)]
  const before = processes.map(cpuSeconds)
  const child = spawn('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, contestant.url])
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString()
  })
  await once(child, 'close')
  rmSync(script, { force: true })
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0)
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  const read = bytes(/requests in [^,]+, ([\d.]+[KMG]?B) read/.exec(output)?.[1] ?? '0B')
  if (requests === 0 || refused)
    throw new Error(`${contestant.name}: ${refused ?? 'all'} of ${requests} answers were not 200\n${output}`)
  const share = read / requests / expected
  // Requests under way at the end are not counted, and their bytes are.
  if (requests > 20 * connections && (share < 0.95 || share > 1.05))
    throw new Error(
      `${contestant.name}: answers of ${(read / requests).toFixed(0)} bytes where ${expected} were expected`,
    )
  const taken = processes.map((pid, at) => cpuSeconds(pid) - before[at]!)
  return {
    requests,
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]),
    cpuPerThousand: (taken.reduce((sum, each) => sum + each, 0) / requests) * 1000,
    busiestPerThousand: (Math.max(...taken) / requests) * 1000,
    p50Ms: milliseconds(/50%\s+([\d.]+(?:us|ms|s))/.exec(output)?.[1] ?? '0ms'),
    p99Ms: milliseconds(/99%\s+([\d.]+(?:us|ms|s))/.exec(output)?.[1] ?? '0ms'),
  }
}

/** The processes that a process has started and that run. */
function childrenOf(pid: number | undefined): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** User and system time of a process so far, from /proc (proc(5)); NaN where there is none. */
function cpuSeconds(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

/** Memory of a process in MiB, from /proc. */
export function memoryOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function bytes(text: string): number {
  const [, value, unit] = /([\d.]+)([KMG]?)B/.exec(text)!
  return Number(value) * { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[unit as '' | 'K' | 'M' | 'G']!
}

function milliseconds(text: string): number {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text)!
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']!
}
