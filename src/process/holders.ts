import { existsSync, readFileSync } from 'node:fs'

/** The holder of a file or row: this process's pid and start time (pids are reused), such as `pid4711-123456`. */
export function holder(): string {
  own ??= `pid${process.pid}-${startOf(process.pid) ?? 0}`
  return own
}

let own: string | undefined

/** A holder at the beginning of a name. */
export const holderPattern = /^pid(\d+)-(\d+)\b/

/**
 * Whether the process of a holder still runs; false for a name without one. Compares the start time on Linux, the pid alone
 * on other systems.
 */
export function isHeld(name: string): boolean {
  const match = holderPattern.exec(name)
  if (!match) return false
  const [pid, start] = [Number(match[1]), Number(match[2])]
  if (start === 0 || !hasProc) return isAlive(pid)
  return startOf(pid) === start
}

const hasProc = existsSync('/proc/self/stat')

/** A process's start, in clock ticks after boot; undefined for an unknown process or a zombie. */
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
