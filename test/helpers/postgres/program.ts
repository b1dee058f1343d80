import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A Debian program that serves until it is signalled. */
export interface Program {
  /** All that it wrote to stderr. */
  readonly log: () => string
  /** Sends a signal and resolves once it has ended. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** The user and the group of `nobody` on Debian. */
export const nobody = 65_534

/** The programs of PostgreSQL refuse to run as root. */
const asNobody =
  process.getuid?.() === 0 ? ['--reuid', String(nobody), '--regid', String(nobody), '--clear-groups'] : []

/**
 * Starts a program, as `nobody` where this process is root, and resolves once stderr matches `ready`. Linux sends it
 * SIGQUIT when this process ends, even by a crash. Throws its stderr where it ends before the match.
 */
export async function startProgram(command: readonly string[], ready: RegExp): Promise<Program> {
  // In a group of its own: where a group is killed, SIGKILL would leave shared memory of PostgreSQL behind.
  const child = spawn('setpriv', [...asNobody, '--pdeathsig', 'QUIT', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const ended = once(child, 'close')
  let log = ''
  const started = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (ready.test(log)) resolve()
    })
  })
  const isStarted = await Promise.race([started.then(() => true), ended.then(() => false)])
  if (!isStarted) throw new Error(`${command[0]} ended with ${child.exitCode ?? child.signalCode}: ${log}`)
  return {
    log: () => log,
    async stop(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Runs a program to its end, as `nobody` where this process is root, and resolves with its output. Throws its stderr. */
export async function runProgram(command: readonly string[]): Promise<string> {
  const child = spawn('setpriv', [...asNobody, '--pdeathsig', 'KILL', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${output.stderr}`)
  return output.stdout
}
