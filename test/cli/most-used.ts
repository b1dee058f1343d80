import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from '../helpers/program/command.ts'
import { pluginAt } from '../helpers/program/installation.ts'

/** A command that people type often, and what its start may load. */
export interface MostUsed {
  readonly words: readonly string[]
  /** Files of the bundle: a few more than it loads today. */
  readonly files: number
  /** Their size in KiB, likewise. */
  readonly kibibytes: number
  /** Packages that it loads from where npm put them; no other may come in. */
  readonly packages: readonly string[]
}

const database = ['better-sqlite3', 'sqlite-vec']

/** The ten most used commands, beside `--help` and `--version`, which load no package at all. */
export const mostUsed: readonly MostUsed[] = [
  { words: ['chat', 'What is a monad?'], files: 72, kibibytes: 2480, packages: database },
  { words: ['persona', 'memory', 'search', 'Ada', 'cat'], files: 57, kibibytes: 1740, packages: database },
  { words: ['persona', 'memory', 'add', 'Ada', 'Dogs bark'], files: 57, kibibytes: 1740, packages: database },
  { words: ['persona', 'list'], files: 52, kibibytes: 1650, packages: database },
  { words: ['session', 'list'], files: 60, kibibytes: 1750, packages: database },
  { words: ['usage'], files: 48, kibibytes: 1320, packages: database },
  { words: ['status'], files: 64, kibibytes: 2400, packages: database },
  { words: ['models', 'list'], files: 39, kibibytes: 1060, packages: [] },
  { words: ['plugin', 'list'], files: 27, kibibytes: 940, packages: [] },
  { words: ['tts', 'Hello.'], files: 45, kibibytes: 1720, packages: database },
]

/** The names behind a Tab, which a person waits for: what they load, in KiB of the bundle. */
export const behindTab = [
  { typed: ['chat', '-m', ''], kibibytes: 1160, packages: [] },
  { typed: ['plugin', 'show', ''], kibibytes: 1160, packages: [] },
  { typed: ['persona', 'show', ''], kibibytes: 1620, packages: database },
  { typed: ['session', 'show', ''], kibibytes: 1620, packages: database },
  { typed: ['tts', '--language', ''], kibibytes: 740, packages: [] },
  { typed: ['help', ''], kibibytes: 860, packages: [] },
] as const

/** Makes a home in which each of them does what people use it for: a persona with memories, and a provider at this address. */
export async function furnish(home: Home, provider: string): Promise<void> {
  const steps: readonly (readonly [words: readonly string[], input?: string])[] = [
    [['plugin', 'install', '-', '--activate'], JSON.stringify(pluginAt(provider))],
    [['persona', 'create', '--name', 'Ada', '-m', 'custom:m', '--prompt', 'You are a patient tutor.', '--memory']],
    [['persona', 'memory', 'add', 'Ada', 'My cat is afraid of thunder']],
  ]
  for (const [words, input] of steps) {
    const { code, stderr } = await home.aichat(words, input === undefined ? {} : { input })
    if (code !== 0) throw new Error(`aichat ${words.join(' ')}: ${stderr}`)
  }
}

/** What a command loads: files of the bundle beside its launcher, and packages. */
export interface Loaded {
  readonly code: number | null
  readonly files: readonly string[]
  readonly bytes: number
  readonly packages: readonly string[]
}

/** Runs a command with the names of its modules on stderr. Its children's count too. */
export async function loadedBy(
  [program, ...args]: readonly string[],
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Loaded> {
  const child = spawn(program!, [...args, ...words], {
    env: { ...environment, NODE_DEBUG: 'esm' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let trace = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    trace += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const all = (pattern: RegExp) => [...new Set([...trace.matchAll(pattern)].map(([, name]) => name!))].sort()
  // Addresses that were resolved; those of files that are absent are not.
  const files = all(/file:\/\/(\/[^\s'"]*\/dist\/bundle\/[\w.-]+\.js)\b/g).filter((path) => existsSync(path))
  return {
    code,
    files,
    bytes: files.reduce((sum, path) => sum + statSync(path).size, 0),
    packages: all(/\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g),
  }
}

/** The program and arguments that start the build in a folder. */
export function launcherOf(folder: string): readonly string[] {
  return [process.execPath, join(folder, 'bin', 'aichat')]
}
