import childProcess from 'node:child_process'
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const require = createRequire(import.meta.url)

/** More frames than any chain has: V8 shows ten by default. */
const mostFrames = 200

type Named = Record<string, (...given: unknown[]) => unknown>

/**
 * Runs a journey, and gives for each effect in it (a file, the database, a socket, a child process) the files of the calls
 * that led to it, outermost first. V8 follows calls through `await`, which is where a plain stack would end; it does not
 * follow them into the callback of a `then`, so the calls to that place are given too.
 */
export async function chainsOf(
  run: () => Promise<void>,
  fileOf: (url: string) => string | undefined,
): Promise<string[][]> {
  const chains = new Map<string, string[]>()
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = mostFrames
  const note = () => {
    const chain = filesIn(new Error('effect').stack ?? '', fileOf)
    if (chain.length > 0) chains.set(chain.join(), chain)
  }
  const restore = effects().map(([owner, name]) => wrap(owner, name, note))
  syncBuiltinESMExports()
  try {
    await run()
  } finally {
    for (const undo of restore) undo()
    syncBuiltinESMExports()
    Error.stackTraceLimit = limit
  }
  return [...chains.values()]
}

function effects(): readonly (readonly [owner: Named, name: string])[] {
  const Database = require('better-sqlite3') as new (path: string) => { prepare(sql: string): object; close(): void }
  const database = new Database(':memory:')
  const statement = Object.getPrototypeOf(database.prepare('SELECT 1')) as Named
  database.close()
  const { Agent } = require('undici') as { Agent: { prototype: object } }
  return [
    ...['run', 'get', 'all', 'iterate'].map((name) => [statement, name] as const),
    ...['renameSync', 'writeSync', 'writeFileSync'].map((name) => [fs as unknown as Named, name] as const),
    ...['spawn', 'fork'].map((name) => [childProcess as unknown as Named, name] as const),
    [childProcess.ChildProcess.prototype as unknown as Named, 'send'],
    [net.Socket.prototype as unknown as Named, 'write'],
    [Agent.prototype as Named, 'dispatch'],
    [Promise.prototype as unknown as Named, 'then'],
  ]
}

function wrap(owner: Named, name: string, note: () => void): () => void {
  const original = owner[name]!
  const isOwn = Object.hasOwn(owner, name)
  owner[name] = function (this: unknown, ...given: unknown[]) {
    note()
    return original.apply(this, given)
  }
  return () => {
    if (isOwn) owner[name] = original
    else delete owner[name]
  }
}

/** The files of the product in a stack, outermost first; neighbours of one file are one. */
function filesIn(stack: string, fileOf: (url: string) => string | undefined): string[] {
  const files: string[] = []
  for (const [, url] of stack.matchAll(/(file:\/\/[^\s)]+?):\d+:\d+\)?$/gm)) {
    const file = fileOf(url!)
    if (file !== undefined && files[0] !== file) files.unshift(file)
  }
  return files
}
