// With --all only: a real client program.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import * as assert from 'uvu/assert'
import { findProgram } from '../../../src/cli/terminal/programs.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openStandIn, type Received } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { type Scene, scene } from './scene.ts'

const test = suite('clients as they are installed')

/** Where the clients are looked for: the folders of AICHAT_TEST_CLIENTS, then PATH. Without them the tests are skipped. */
const path = [process.env['AICHAT_TEST_CLIENTS'], process.env['PATH']].filter(Boolean).join(delimiter)

/** A client, and its arguments for one prompt without questions. */
const programs: readonly (readonly [client: string, ask: (prompt: string) => readonly string[]])[] = [
  ['codex', (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt]],
  ['claude', (prompt) => ['-p', '--allowedTools', 'Bash', '--', prompt]],
  ['opencode', (prompt) => ['run', prompt]],
]

for (const [client, ask] of programs) {
  const program = findProgram([client], { PATH: path })
  const run = program === undefined ? test.skip : test

  run(`${client} (skipped where it is not installed), connected, answers and calls a tool`, () =>
    toolScene(async (place) => {
      const { code, stdout } = await place.run(['connect', client])
      assert.is(code, 0)
      const answer = await outputOf(place, `${stdout}\n${client} "$@"`, ask('run the tool'))
      assert.ok(answer.includes('the tool said tool-ran-here'), answer)
    }),
  )
}

test.run()

/** A scene with a provider that calls the client's shell once and then repeats the output. */
async function toolScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(eventsFor(request))
  })
  await scene(async (place) => {
    const plugin = pluginAt(provider.url, { id: 'shell', model_map: ['custom-model'] })
    await place.run(['plugin', 'install', place.write('shell.json', JSON.stringify(plugin)), '--activate'])
    await work(place)
  })
}

interface Asked {
  readonly model: string
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

function eventsFor({ body }: Received): string {
  const { model, tools = [], messages } = JSON.parse(body) as Asked
  const event = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const shell = tools.map((tool) => tool.function.name).find((name) => /^(?:exec_command|bash)$/i.test(name))
  const result = JSON.stringify(messages.filter(({ role }) => role === 'tool').at(-1)?.content ?? '')
  const command =
    shell === 'exec_command' ? { cmd: 'echo tool-ran-here' } : { command: 'echo tool-ran-here', description: 'x' }
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: shell, arguments: JSON.stringify(command) },
  }
  if (shell !== undefined && result === '""')
    return `${event({ role: 'assistant', tool_calls: [call] })}${event({}, 'tool_calls')}data: [DONE]\n\n`
  const text = /tool-ran-here/.test(result) ? 'the tool said tool-ran-here' : 'no tool'
  return `${event({ role: 'assistant', content: text })}${event({}, 'stop')}data: [DONE]\n\n`
}

/** The output of a shell script in an empty folder, with only the scene's home in its environment. */
async function outputOf({ home, environment }: Scene, script: string, args: readonly string[]): Promise<string> {
  const cwd = temporaryFolder()
  mkdirSync(join(home, '.cache'), { recursive: true })
  const child = spawn('bash', ['-c', script, 'bash', ...args], {
    cwd,
    env: { ...environment, PATH: path, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  await new Promise((resolve) => child.on('close', resolve))
  return output
}
