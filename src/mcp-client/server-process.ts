import { type ChildProcess, spawn } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { parseJSONRPCMessage } from '@modelcontextprotocol/client'
import { AppError } from '../errors.ts'
import { createLineSplitter } from '../formats/formats.ts'
import { within } from '../process/process.ts'

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Its whole environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** The longest message of a server: bytes. It holds a picture of 5 MB, the longest that is sent, in base64. */
export const longestMessage = 8 * 1024 * 1024

/** Bytes of stderr that are kept, from its end, for the reason of a failure. */
const keptStderr = 4 * 1024

/** How long a server may take to end once its stdin is closed, and again after SIGTERM: milliseconds. */
const graceMs = 1_000

/** A transport that reports messages that are too long to be read. */
export interface ServerProcess extends Transport {
  /** The end of the server's stderr. */
  stderr(): string
}

/**
 * A server in a process group of its own, one message a line. Unlike the transport of the SDK it ends the whole group, passes
 * on no part of our environment, keeps the end of stderr alone, and lives on after a message that is too long, for which
 * `onTooLong` is called.
 */
export function createServerProcess(
  { command, args, environment }: ServerCommand,
  onTooLong: () => void,
): ServerProcess {
  const splitLines = createLineSplitter(longestMessage)
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()
  let tail = Buffer.alloc(0)
  const transport: ServerProcess = {
    stderr: () => tail.toString('utf8'),
    start: () =>
      new Promise((resolve, reject) => {
        // A group of its own, so that the processes that it starts end with it.
        const started = spawn(command, args, { env: { ...environment }, stdio: 'pipe', detached: true })
        child = started
        ended = new Promise((done) => {
          started.once('exit', () => done())
          started.once('error', () => done())
        })
        started.once('spawn', () => resolve())
        started.once('error', (cause) => reject(notStarted(command, cause)))
        started.once('close', () => transport.onclose?.())
        started.stdin.on('error', () => {})
        started.stderr.on('data', (bytes: Buffer) => {
          tail = Buffer.concat([tail, bytes.subarray(-keptStderr)]).subarray(-keptStderr)
        })
        started.stdout.on('data', onData)
      }),
    async send(message) {
      if (!child?.stdin?.writable) throw new AppError('unavailable', 'The server has ended')
      if (child.stdin.write(`${JSON.stringify(message)}\n`)) return
      await new Promise<void>((resolve) => child?.stdin?.once('drain', resolve).once('close', resolve))
    },
    async close() {
      const { pid, stdin } = child ?? {}
      stdin?.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await within(ended, graceMs)) break
        endGroup(pid, signal)
      }
      await ended
      // Processes that it left behind.
      endGroup(pid, 'SIGKILL')
      child?.stdout?.destroy()
      child?.stderr?.destroy()
    },
  }
  return transport

  function onData(bytes: Buffer): void {
    for (const line of splitLines(bytes)) {
      if ('tooLong' in line) onTooLong()
      else if (line.text.trim() !== '') read(line.text)
    }
  }

  function read(text: string): void {
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(JSON.parse(text))
    } catch {
      // Many servers print other lines to stdout.
      return
    }
    transport.onmessage?.(message)
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended.
  }
}

function notStarted(command: string, cause: NodeJS.ErrnoException): AppError {
  const reason = cause.code === 'ENOENT' ? 'the program is not there' : (cause.code ?? cause.message)
  return new AppError('unavailable', `The server cannot be started: ${command}: ${reason}`, { cause })
}
