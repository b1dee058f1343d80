import { existsSync, readFileSync } from 'node:fs'

/**
 * Who holds a file or row that lasts only as long as a process: its number and when it started, since numbers are given
 * again. Such as `pid4711-123456`, which begins like no id.
 */
export function holder(): string {
  own ??= `pid${process.pid}-${startOf(process.pid) ?? 0}`
  return own
}

let own: string | undefined

/** What a holder looks like at the beginning of a name. */
export const holderPattern = /^pid(\d+)-(\d+)\b/

/**
 * Whether that process still runs. Where the system does not say when a process started (it is Linux that does), its
 * number must do; and what has no holder is held by nobody.
 */
export function isHeld(name: string): boolean {
  const match = holderPattern.exec(name)
  if (!match) return false
  const [pid, start] = [Number(match[1]), Number(match[2])]
  if (start === 0 || !hasProc) return isAlive(pid)
  return startOf(pid) === start
}

const hasProc = existsSync('/proc/self/stat')

/** In clock ticks after the system's start; undefined when there is no such process, or it is dead and not yet collected. */
function startOf(pid: number): number | undefined {
  try {
    // proc(5): the name in brackets may hold anything; behind it come the state and, as the 20th, the start time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19])
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === 'EPERM'
  }
}
