// Some with --all only: a whole sample.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { manualFacts } from '../../../src/cli/completion/actions.ts'
import { argumentsOf, valuesOf } from '../../../src/cli/completion/kinds.ts'
import { type CommandNode, flatten, treeOf } from '../../../src/cli/help/tree.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import { haveProgram } from '../../helpers/debian.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const program = buildProgram({
  io: { columns: 80, out: async () => {}, err: () => {} },
  bind: () => {},
} as unknown as Cli)
const { generated } = (await import(new URL('bin/docs.mjs', import.meta.resolve('#package')).href)) as {
  readonly generated: (facts: ReturnType<typeof manualFacts>) => ReadonlyMap<string, string>
}
const files = generated(manualFacts(program))

/** A folder for the records of this file. */
const folder = temporaryFolder()
const environment = { PATH: process.env['PATH'] ?? '', AICHAT_HOME: folder, HOME: folder }

/** A key that no completion may show. */
const canary = 'sk-canary-0123456789'

const test = suite('files generated from the command tree and the schema')
test('the checked-in manual pages are fresh (npm run docs)', () => {
  for (const [path, content] of files) assert.is(readFileSync(join(root, path), 'utf8'), content, path)
})

test('every command and every flag stands in the manual', () => {
  const manual = files.get('man/aichat.1')!
  for (const node of flatten(treeOf(program))) {
    if (node.path.length > 0 && node.commands.length === 0)
      assert.ok(manual.includes(`.Ss ${node.path.join(' ')}`), node.path.join(' '))
    for (const { long } of node.flags)
      if (long) assert.ok(manual.includes(`Fl \\&-${long.slice(2).replaceAll('--', '\\-\\-')}`), long)
  }
})

const manPages = [...files.keys()].filter((path) => path.startsWith('man/'))

test('the package names every manual page', () => {
  const { man } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { man: readonly string[] }
  assert.equal([...man].sort(), manPages.map((page) => `./${page}`).sort())
})

const when = (have: boolean) => (have ? test : test.skip)
const [zsh, mandoc, shellcheck] = [haveProgram('zsh'), haveProgram('mandoc'), haveProgram('shellcheck')]

when(mandoc)('mandoc finds nothing wrong with the manual pages', () => {
  const pages = manPages.map((page) => join(root, page))
  const { status, stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages], { encoding: 'utf8' })
  assert.is(status, 0, stdout)
})

when(shellcheck)('shellcheck finds nothing wrong with the bash completion', () => {
  const { status, stdout } = spawnSync(
    'shellcheck',
    ['-s', 'bash', '-S', 'style', join(root, 'completions', 'aichat.bash')],
    { encoding: 'utf8' },
  )
  assert.is(status, 0, stdout)
})

test.whole('the words of every kind are known', async () => {
  await using installation = openInstallation()
  const environment = {
    AICHAT_HOME: installation.home,
    HOME: installation.home,
    OLLAMA_HOST: '127.0.0.1:9',
    OPENAI_API_KEY: canary,
  }
  const run = (words: readonly string[], input?: string) =>
    runMain(words, { environment, ...(input !== undefined && { input }) })
  assert.is((await run(['--local', 'setup', '--username', 'ada', '--password-stdin'], 'Passw0rd')).code, 0)
  assert.is((await run(['persona', 'create', '--name', 'Mia', '--model', 'm'])).code, 0)
  mkdirSync(join(installation.home, 'templates'))
  writeFileSync(join(installation.home, 'templates', 'review.yaml'), 'prompt: Review\n')
  const area = await installation.app.personas()
  await area.conversations.create((await (await installation.app.accounts()).local())!.user.id, { name: 'Trip' })
  const { id } = JSON.parse((await run(['persona', 'memory', 'add', 'Mia', 'My cat is Tom', '--json'])).stdout)
  const { backup_id } = JSON.parse((await run(['persona', 'backup', 'Mia', '--json'])).stdout)
  await run(['models', 'alias', 'fast', 'openai:gpt-4.1-mini'])
  await run(['mcp', 'add', 'files', '--', 'true'])
  await run(['key', 'create', 'editor', '--json'])
  const contexts: Readonly<Record<string, string>> = {
    memories: 'Mia',
    backups: 'Mia',
    'setting-values': 'chat.persona',
  }
  const words = new Map<string, readonly string[]>()
  const lines = linesOfKinds(treeOf(program), contexts)
  for (const [kind, line] of lines) {
    const { code, stdout, stderr } = await run(['__complete', '--', ...line, ''])
    assert.equal([code, stderr], [0, ''], kind)
    assert.not.match(stdout, canary)
    words.set(kind, stdout.split('\n').filter(Boolean))
  }
  // Of each kind one that is always there; no model is pulled here.
  const known = {
    plugins: 'openai',
    keys: 'OPENAI_API_KEY',
    models: 'openai:gpt-4.1-mini',
    personas: 'Mia',
    sessions: 'Trip',
    users: 'ada',
    voices: 'ryan',
    settings: 'api.port',
    servers: 'api',
    'speech-servers': 'voxa-tts',
    clients: 'codex',
    topics: 'exit-codes',
    templates: 'review',
    'models-to-pull': 'smollm2-360m',
    'embedding-models': 'builtin',
    languages: 'English',
    aliases: 'fast',
    'mcp-servers': 'files',
    'limit-subjects': 'plugin:openai',
    'setting-values': 'Mia',
    memories: id,
    backups: backup_id,
  }
  assert.equal([...words.keys()].sort(), [...Object.keys(known), 'pulled-models', 'logins', 'api-keys'].sort())
  for (const [kind, word] of Object.entries(known)) assert.ok(words.get(kind)!.includes(word), `${kind}: ${word}`)
  for (const kind of ['pulled-models', 'logins']) assert.equal(words.get(kind), [])
  assert.match(words.get('api-keys')!.join(), /^[\w-]+$/)
  // The program behind a Tab prints the same.
  for (const kind of isWholeRun ? ['personas', 'models', 'memories', 'keys'] : ['personas', 'memories']) {
    const [program, ...args] = aichatCommand
    const line = [...args, '--timeout', '2s', '__complete', '--', ...lines.get(kind)!, '']
    const { stdout, stderr } = spawnSync(program!, line, {
      env: { PATH: process.env['PATH'], ...environment },
      encoding: 'utf8',
    })
    assert.equal([stdout.split('\n').filter(Boolean), stderr], [words.get(kind), ''])
  }
})

/** The words before one of each kind, by kind. */
function linesOfKinds(
  root: CommandNode,
  contexts: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, readonly string[]>()
  for (const node of flatten(root)) {
    for (const [place, kind] of argumentsOf(node).entries())
      if (kind) lines.set(kind, [...node.path, ...Array.from({ length: place }, () => contexts[kind] ?? 'other')])
    for (const flag of node.flags) {
      const values = valuesOf(node, flag)
      if (values && 'kind' in values) lines.set(values.kind, [...node.path, flag.long!])
    }
  }
  return lines
}

const unit = join(folder, 'aichat.service')

test('the systemd unit runs this installation', async () => {
  const { code, stdout } = await runMain(['help', 'systemd'], { environment })
  assert.is(code, 0)
  assert.ok(stdout.includes(join(root, 'bin', 'aichat')))
  writeFileSync(unit, stdout)
  assert.is((await runMain(['service', 'unit'], { environment })).stdout, stdout)
})

when(haveProgram('systemd-analyze', 'systemd'))('systemd finds nothing wrong with the unit, and little exposed', () => {
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.equal([verified.status, verified.stderr], [0, ''])
  const scored = spawnSync('systemd-analyze', ['security', '--offline=yes', unit], { encoding: 'utf8' })
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(scored.stdout)?.[1])
  assert.ok(exposure <= 1.6, scored.stdout)
})

when(zsh)('zsh reads its script without complaint', () => {
  assert.is(spawnSync('zsh', ['-n', join(root, 'completions', '_aichat')]).status, 0)
})

test('a completion asks and prints nothing on an error', () => {
  writeFileSync(join(folder, 'config.json'), '{ broken')
  const [program, ...args] = [...aichatCommand, '__complete', '--', 'plugin', 'show', '']
  const { status, stdout, stderr } = spawnSync(program!, args, { env: environment, encoding: 'utf8' })
  rmSync(join(folder, 'config.json'))
  assert.equal([status, stdout, stderr], [0, '', ''])
})

test.run()
