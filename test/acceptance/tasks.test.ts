// With --all only: many processes.
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { pluck } from '../helpers/pluck.ts'
import { aichatCommand, type Home, openHome } from '../helpers/program/command.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { hasPseudoTerminal, openTerminal } from '../helpers/program/pseudo-terminal.ts'
import { runMain } from '../helpers/program/terminal.ts'
import {
  completion,
  completionEvents,
  json,
  localRunner,
  openStandIn,
  type StandIn,
} from '../helpers/providers/fake-provider.ts'
import { placeEmptyDatabase } from '../helpers/storage/empty-database.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('ten tasks of daily use')
const withTerminal = hasPseudoTerminal ? test : test.skip

/** The lines of each task in tasks.md, by its title. */
const tasks = new Map(
  [...tasksFile().matchAll(/^## \d+\. (.*)\n+```sh\n([\s\S]*?)```$/gm)].map(([, title, lines]) => [title!, lines!]),
)
const tried = new Set<string>()

/** The provider, a site and the local runner of all tasks, and the settings with which each of them begins. */
let standIns: readonly [provider: StandIn, pages: StandIn, runner: StandIn] | undefined
const settings = temporaryFolder()
test.before(async () => {
  const page =
    '<html><head><title>Team</title></head><body><nav>Cookies</nav><article><h1>Team</h1><p>Ada is 36 years old and writes programs for a machine that is not built yet, with great care.</p><p>Grace is 45 and writes a compiler, which nobody believes can work at all.</p></article></body></html>'
  standIns = [
    await openStandIn(answering),
    await openStandIn((_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(page)),
    await openStandIn(localRunner('You promised it to Ada.')),
  ]
  const provider = standIns[0]
  placeEmptyDatabase(settings)
  for (const [id, model] of [
    ['anthropic', 'claude-sonnet-5'],
    ['openai', 'gpt-4.1-mini'],
  ] as const) {
    const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'STAND_IN_API_KEY' }
    const input = JSON.stringify(pluginAt(provider.url, { id, auth, model_map: [model] }))
    const options = {
      environment: { AICHAT_HOME: settings, HOME: settings, STAND_IN_API_KEY: 'sk-of-the-test' },
      input,
    }
    const { code, stderr } = await runMain(['plugin', 'install', '--force', '--activate', '-'], options)
    assert.is(code, 0, stderr)
  }
})
test.after(async () => {
  for (const standIn of standIns ?? []) await standIn.close()
})

test('the file names ten tasks', () => {
  assert.is(tasks.size, 10)
})

task('Summarise a folder', async ({ bash, asked }, lines) => {
  const { code, stdout, stderr } = await bash(lines)
  assert.equal([code, stdout], [0, 'gpt-4.1-mini: Summarise these notes\n'], stderr)
  assert.match(stderr, /^aichat: 2 files, 30 bytes, .*\n {2}notes\/call\.md .*\n {2}notes\/shop\.md .*\n$/)
  assert.match(asked(), /<file path="notes\/call\.md">\nCall Grace\n<\/file>[\s\S]*Buy milk on Friday[\s\S]*Summarise/)
})

task('Write a commit message from a diff', async ({ bash, asked }, lines) => {
  const { code, stderr } = await bash(lines)
  assert.is(code, 0, stderr)
  assert.match(asked(), /^Write a commit message\n\ndiff --git [\s\S]*\+Dear diary/)
  assert.is((await bash('git log -1 --format=%B')).stdout.trim(), 'gpt-4.1-mini: Write a commit message')
})

task('Ask again in another model', async ({ bash }, lines) => {
  const { code, stdout, stderr } = await bash(lines)
  assert.equal([code, stdout], [0, 'gpt-4.1-mini: What is a monad?\nclaude-sonnet-5: What is a monad?\n'], stderr)
  assert.is(stderr, 'aichat: asking the last question of "What is a monad?" again\n')
  const { sessions } = JSON.parse((await bash('aichat session list --json')).stdout)
  assert.equal(pluck(sessions, 'name'), ['What is a monad? 2', 'What is a monad?'])
})

task('Extract JSON from a page', async ({ bash, asked, provider }, lines) => {
  const { code, stdout, stderr } = await bash(lines)
  assert.equal([code, stdout], [0, 'Ada\nGrace\n'], stderr)
  assert.match(asked(), /<file url="http[^"]*\/team" title="Team">\n[\s\S]*Ada is 36[\s\S]*Who works here\?$/)
  assert.not.match(asked(), /Cookies/)
  const { response_format: format } = JSON.parse(provider.received.at(-1)!.body)
  assert.equal(Object.keys(format.json_schema.schema.properties.items.items.properties), ['name', 'age'])
})

task("Search last week's chats", async ({ bash, home }, lines) => {
  await bash(
    'aichat "When does the night train leave?"; aichat "Which night train is the old one?"; aichat "Or by day?"',
  )
  age(home, 'Which night train is the old one?')
  const { code, stdout, stderr } = await bash(lines)
  assert.is(code, 0, stderr)
  assert.match(
    stdout,
    /^When does the night train leave\? {2}\S+ \S+ {2}assistant\n {2}gpt-4.1-mini: When does the night train leave\?\nWhen does .* {2}user\n {2}When does the night train leave\?\n$/,
  )
})

task('Compare two models', async ({ bash }, lines) => {
  const { code, stdout, stderr } = await bash(lines)
  assert.is(code, 1, stderr)
  assert.is(stdout, '1c1\n< gpt-4.1-mini: Name a fruit, please\n---\n> claude-sonnet-5: Name a fruit, please\n')
  assert.is(stderr, '')
  assert.is(JSON.parse((await bash('aichat session list --json')).stdout).total, 2, 'both are kept')
})

task('Speak an answer', async ({ bash, folder }, lines) => {
  const played = join(folder, 'played.wav')
  program(join(folder, 'bin', 'paplay'), `cat > '${played}'`)
  const { code, stdout, stderr } = await bash(lines)
  assert.equal([code, stdout], [0, ''], stderr)
  const wav = readFileSync(played)
  assert.equal([wav.subarray(0, 4).toString(), wav.subarray(8, 12).toString()], ['RIFF', 'WAVE'])
  // Half a second at 24,000 samples of two bytes.
  assert.ok(wav.length > 24_000)
})

task('Keep one question on this machine', async ({ bash, provider, runner }, lines) => {
  // The bundled plugin again: its provider is elsewhere.
  await bash('aichat plugin remove openai --yes && aichat plugin activate openai')
  const { code, stdout, stderr } = await bash(lines)
  assert.equal([code, stdout], [0, 'You promised it to Ada.\n'], stderr)
  const chats = runner.received.filter(({ url }) => url === '/api/chat')
  assert.is(chats.length, 1)
  assert.match(chats[0]!.body, /Dear diary/)
  assert.is(provider.received.length, 0)
})

const goOn = linesOf('Go on in a conversation with what began in a pipe')
withTerminal('Go on in a conversation with what began in a pipe', () =>
  scene(async ({ folder, work, environment, provider }) => {
    const terminal = await openTerminal(folder, [], environment, { script: () => `cd '${work}'\n${goOn}` })
    await terminal.shows(/continuing "Review this change"[\s\S]*Ctrl-D ends the conversation\.\s+> $/)
    terminal.type('Shorter, please\r')
    await terminal.shows(/gpt-4.1-mini: Shorter, please[\s\S]*> $/)
    terminal.type('\x04')
    assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
    const { messages } = JSON.parse(provider.received.at(-1)!.body)
    assert.equal(
      messages.map(({ role, content }: { role: string; content: string }) => [role, content.split('\n')[0]]),
      [
        ['user', 'Review this change'],
        ['assistant', 'gpt-4.1-mini: Review this change'],
        ['user', 'Shorter, please'],
      ],
    )
  }),
)

task('Run a template over many files', async ({ bash, work, provider }, lines) => {
  const { code, stderr } = await bash(lines)
  assert.is(code, 0, stderr)
  const briefs = ['call', 'shop'].map((name) => readFileSync(join(work, 'notes', `${name}.brief`), 'utf8'))
  assert.equal(briefs, [
    'gpt-4.1-mini: Say in five words what this says: Call Grace\n',
    'gpt-4.1-mini: Say in five words what this says: Buy milk on Friday\n',
  ])
  assert.is(provider.received.length, 2)
})

test('each task of the file is tried', () => {
  assert.equal([...tried], [...tasks.keys()])
})

test.run()

interface Scene {
  readonly home: Home
  /** The folder of programs and settings, and the one in which lines are typed. */
  readonly folder: string
  readonly work: string
  readonly environment: Record<string, string>
  readonly provider: StandIn
  readonly runner: StandIn
  /** Runs lines in bash. */
  bash(lines: string): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** The text of the last question, with its files. */
  asked(): string
}

function tasksFile(): string {
  return readFileSync(fileURLToPath(new URL('./test/acceptance/tasks.md', import.meta.resolve('#package'))), 'utf8')
}

function linesOf(title: string): string {
  tried.add(title)
  const lines = tasks.get(title)
  assert.ok(lines, `tasks.md has no task "${title}"`)
  return lines!
}

function task(title: string, check: (scene: Scene, lines: string) => Promise<void>): void {
  const lines = linesOf(title)
  test(title, () => scene((found) => check(found, lines)))
}

/** A folder to work in, and a home with two providers of which one is active. */
async function scene(use: (scene: Scene) => Promise<void>): Promise<void> {
  const [provider, pages, runner] = standIns!
  for (const { received } of standIns!) received.length = 0
  using home = openHome()
  const { folder } = home
  const work = join(folder, 'work')
  const environment = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    AICHAT_HOME: join(folder, 'settings'),
    HOME: folder,
    OLLAMA_HOST: runner.host,
    OPENAI_API_KEY: 'sk-of-the-test',
    // Those of well-known providers are sent to their own hosts alone.
    STAND_IN_API_KEY: 'sk-of-the-test',
    URL: `${pages.url}/team`,
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Ada'],
        [`GIT_${role}_EMAIL`, 'ada@example.org'],
      ]),
    ),
  }
  const bash: Scene['bash'] = (lines) => {
    const child = spawn('bash', ['-c', lines], { cwd: work, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
  }
  for (const made of ['bin', 'work/notes']) mkdirSync(join(folder, made), { recursive: true })
  program(join(folder, 'bin', 'aichat'), `exec ${aichatCommand.map((word) => `'${word}'`).join(' ')} "$@"`)
  for (const [name, text] of [
    ['notes/call.md', 'Call Grace\n'],
    ['notes/shop.md', 'Buy milk on Friday\n'],
    ['diary.md', 'Dear diary, I promised a tale.\n'],
  ] as const)
    writeFileSync(join(work, name), text)
  cpSync(settings, environment.AICHAT_HOME, { recursive: true })
  assert.is((await bash('git init -q . && git add diary.md')).code, 0)
  await use({
    home,
    folder,
    work,
    environment,
    provider,
    runner,
    bash,
    asked: () => questionIn(provider.received.at(-1)!.body),
  })
}

/** Answers with its model and the first line of the question, and with two people where JSON is asked for. */
const answering: Parameters<typeof openStandIn>[0] = (request, response) => {
  const { model, stream, response_format: format } = JSON.parse(request.body)
  const question = questionIn(request.body).replace(/<file [\s\S]*<\/file>\n/g, '')
  const people = {
    items: [
      { name: 'Ada', age: 36 },
      { name: 'Grace', age: 45 },
    ],
  }
  const text = format ? JSON.stringify(people) : `${model}: ${question.split('\n')[0]}`
  if (!stream) return json(response, 200, completion(text, model))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents([text.slice(0, 5), text.slice(5)], model).join(''))
}

function questionIn(body: string): string {
  const { content } = JSON.parse(body).messages.at(-1)
  return typeof content === 'string' ? content : content.map(({ text }: { text: string }) => text).join('\n')
}

function program(path: string, lines: string): void {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
}

/** Makes a session three weeks older. */
function age({ folder }: Home, name: string): void {
  const db = new BetterSqlite3(join(folder, 'settings', 'aichat.db'))
  const { changes } = db
    .prepare(
      'UPDATE conversation_message SET timestamp = timestamp - ? WHERE conversation_id = (SELECT id FROM conversation WHERE name = ?)',
    )
    .run(21 * 86_400_000, name)
  db.close()
  assert.is(changes, 2)
}
