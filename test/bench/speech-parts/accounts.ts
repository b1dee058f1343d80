/** The resources used by processes, from Linux's accounting. */
import { readFileSync } from 'node:fs'

/** The engine's process and those that it started. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => processesOf(Number(child))))]
}

/** From Linux's own accounts, with the processes that it started. */
export function cpuSeconds(pid: number): number {
  return processesOf(pid).reduce((sum, each) => sum + ownCpuSeconds(each), 0)
}

/** Of one process without those that it started; the clock of these accounts ticks a hundred times a second. */
export function ownCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/**
 * Samples the memory every 20 ms; the returned function stops that and returns the peak in megabytes, with shared pages
 * counted once.
 */
export function watchMemory(pidOf: () => number | undefined): () => number {
  let most = 0
  const look = () => {
    const pid = pidOf()
    if (pid !== undefined) most = Math.max(most, sharedMemoryOf(pid))
  }
  const timer = setInterval(look, 20)
  return () => {
    clearInterval(timer)
    look()
    return Math.round(most)
  }
}

/** Megabytes of a process and those that it started: a page of several processes counts for each in part. */
function sharedMemoryOf(pid: number): number {
  try {
    return processesOf(pid).reduce((sum, each) => sum + proportionalSet(each), 0)
  } catch {
    // One of them has just ended.
    return 0
  }
}

function proportionalSet(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return (Number(kilobytes) * 1024) / 1e6
}

/** In megabytes, each process with all that it shares with others. */
export function memoryOf(pid: number, field: string): string {
  const megabytes = processesOf(pid).map((each) => {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1]
    return Math.round((Number(kilobytes) * 1024) / 1e6)
  })
  return `${megabytes.reduce((sum, size) => sum + size, 0)} (${megabytes.join(' + ')})`
}
