/** What processes cost, from Linux's own accounts. */
import { readFileSync } from 'node:fs'

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The engine's process and those that it started. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => processesOf(Number(child))))]
}

/** From Linux's own accounts; its clock ticks a hundred times a second. */
export function cpuSeconds(pid: number): number {
  const ticks = processesOf(pid).map((each) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, count) => sum + count, 0) / 100
}

/** In megabytes, each process with all that it shares with others. */
export function memoryOf(pid: number, field: string): string {
  const megabytes = processesOf(pid).map((each) => {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1]
    return Math.round(Number(kilobytes) / 1024)
  })
  return `${megabytes.reduce((sum, size) => sum + size, 0)} (${megabytes.join(' + ')})`
}
