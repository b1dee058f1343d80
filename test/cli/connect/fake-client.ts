import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aichatCommand } from '../../helpers/program/command.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import type { Scene } from './scene.ts'

/** A client that tells its arguments and environment, asks for the models with its key, and then waits or ends. */
const fakeClient = `#!/usr/bin/env node
const { readFileSync, readdirSync, writeFileSync } = require('node:fs')
const names = /^(?:AICHAT_API_KEY|ANTHROPIC_|OPENAI_|AIDER_|OPENCODE_|LLM_|OLLAMA_API_KEY)/
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
const key = environment.AICHAT_API_KEY ?? environment.ANTHROPIC_AUTH_TOKEN ?? environment.OPENAI_API_KEY
const files = Object.fromEntries(
  [environment.LLM_USER_PATH].filter(Boolean).flatMap((folder) => readdirSync(folder).map((name) => [name, readFileSync(folder + '/' + name, 'utf8')])),
)
const base = environment.ANTHROPIC_BASE_URL ?? /http:\\/\\/127\\.0\\.0\\.1:\\d+/.exec(JSON.stringify([process.argv, environment]))?.[0]
const tell = (status) => {
  const told = JSON.stringify({ args: process.argv.slice(2), environment, files, base, key, status, pid: process.pid })
  if (process.env.FAKE_TOLD) writeFileSync(process.env.FAKE_TOLD, told)
  else console.log(told)
}
const ended = (name, code) => process.on(name, () => { console.log(name); process.exit(code) })
ended('SIGTERM', 9)
ended('SIGINT', 8)
fetch(base + '/v1/models', { headers: { authorization: 'Bearer ' + key } }).then(({ status }) => {
  tell(status)
  if (process.env.FAKE_WAITS) setInterval(() => {}, 1000)
  else process.exit(Number(process.env.FAKE_CODE ?? 0))
}, () => tell(0))
`

export interface Told {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly base: string
  readonly key: string
  readonly status: number
  readonly pid: number
}

export interface Running {
  readonly child: ChildProcess
  readonly told: Told
  readonly output: { stdout: string; stderr: string }
}

/** The search path with the fake client under the names of the real ones. */
function pathWithClients(home: string): string {
  const programs = join(home, 'programs')
  mkdirSync(programs, { recursive: true })
  for (const name of ['codex', 'claude', 'opencode', 'aider', 'llm']) {
    writeFileSync(join(programs, name), fakeClient)
    chmodSync(join(programs, name), 0o755)
  }
  return [programs, process.env['PATH']].join(delimiter)
}

/** Launches the fake client from this process, until it has ended. */
export async function launchHere(
  { home, environment }: Scene,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Ran & { readonly told: Told }> {
  const file = join(home, 'told.json')
  const ran = await runMain(['launch', ...words], {
    environment: { ...environment, ...more, PATH: pathWithClients(home), FAKE_TOLD: file },
  })
  return { ...ran, told: JSON.parse(readFileSync(file, 'utf8')) as Told }
}

/**
 * Launches the fake client under the names of the real ones; resolves once it has printed its arguments and
 * environment.
 */
export async function launch(
  { home, environment }: Scene,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'launch', ...words], {
    env: { ...environment, ...more, PATH: pathWithClients(home) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const told = new Promise<Told>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
      const [line, ...rest] = output.stdout.split('\n')
      if (rest.length > 0) resolve(JSON.parse(line!) as Told)
    })
    child.on('close', () => reject(new Error(output.stderr)))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return { child, told: await told, output }
}

/** Its exit code, once all of its output is here; after a signal, its client may write on. */
export async function codeOf(child: ChildProcess): Promise<number | null> {
  const isWritten = child.stdout!.closed && child.stderr!.closed
  const closed = once(child, 'close')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (!isWritten && child.signalCode === null) await closed
  return child.exitCode
}

/** The status of a request with a key; 0 without an answer. */
export async function statusOf(url: string, key: string): Promise<number> {
  try {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}
