import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { generated } from '../../../src/cli/completion/generate.ts'
import { flatten, treeOf } from '../../../src/cli/help/tree.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import { haveProgram } from '../../helpers/debian.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const program = buildProgram({
  io: { columns: 80, out: async () => {}, err: () => {} },
  bind: () => {},
} as unknown as Cli)
const files = generated(program)

/** A folder with `aichat` on its path, as after an installation. */
const folder = mkdtempSync(join(tmpdir(), 'aichat-completion-'))
mkdirSync(join(folder, 'bin'))
writeFileSync(
  join(folder, 'bin', 'aichat'),
  `#!/bin/sh\nexec ${aichatCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`,
)
chmodSync(join(folder, 'bin', 'aichat'), 0o755)
const environment = {
  PATH: `${folder}/bin:${process.env['PATH']}`,
  AICHAT_HOME: folder,
  HOME: folder,
  TERM: 'xterm',
  LC_ALL: 'C.UTF-8',
}

/** A key that no completion may show. */
const canary = 'sk-canary-0123456789'

/** The records of this machine, as a user makes them; the id of a memory among them. */
async function makeRecords(): Promise<string> {
  const run = async (words: readonly string[]) => {
    const { code, stdout, stderr } = await runMain(words, { environment })
    assert.is(code, 0, stderr)
    return stdout
  }
  await run(['persona', 'create', '--name', 'Mia', '--model', 'openai:gpt-4.1-mini'])
  await run(['models', 'alias', 'fast', 'openai:gpt-4.1-mini'])
  await run(['mcp', 'add', 'files', '--', 'true'])
  return JSON.parse(await run(['persona', 'memory', 'add', 'Mia', 'My cat is called Tom', '--json'])).id
}

const memory = await makeRecords()

const test = suite('files generated from the command tree and the schema')
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('the checked-in completions and manual pages are fresh (npm run docs)', () => {
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

const when = (have: boolean) => (have ? test : test.skip)
const [bash, zsh, fish, mandoc, shellcheck] = [
  haveProgram('bash'),
  haveProgram('zsh'),
  haveProgram('fish'),
  haveProgram('mandoc'),
  haveProgram('shellcheck'),
]

when(mandoc)('mandoc finds nothing wrong with the manual pages', () => {
  const pages = ['aichat.1', 'aichat-plugin.5'].map((page) => join(root, 'man', page))
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

const completions: readonly (readonly [words: readonly string[], found: string])[] = [
  [['plug'], 'plugin'],
  [['plugin', 'inst'], 'install'],
  [['chat', '--no-fall'], '--no-fallback'],
  [['plugin', 'show', 'opena'], 'openai'],
  [['completion', 'zs'], 'zsh'],
  [['--color', 'plugin', 'plugin', 'inst'], 'install'],
  [['plugin', 'list', '--color', 'alw'], 'always'],
  [['plugin', 'list', '--type', 'embed'], 'embedding'],
  [['help', 'exit'], 'exit-codes'],
  [['help', 'perso'], 'persona'],
  [['persona', 'show', 'Mi'], 'Mia'],
  [['persona', 'memory', 'show', 'Mia', memory.slice(0, 4)], memory],
  [['persona', 'memory', 'pin', 'Mia', 'other', memory.slice(0, 4)], memory],
  [['models', 'alias', 'fa'], 'fast'],
  [['chat', '-m', 'fas'], 'fast'],
  [['chat', '--mcp', 'fil'], 'files'],
  [['mcp', 'show', 'fil'], 'files'],
  [['config', 'set', 'chat.local_only', 'tr'], 'true'],
  [['config', 'set', 'log.level', 'deb'], 'debug'],
  [['tts', '--language', 'Germ'], 'German'],
]

for (const [words, found] of completions) {
  when(bash)(`bash completes "${words.join(' ')}" to ${found}`, () => {
    const script = `source ${join(root, 'completions', 'aichat.bash')}; COMP_WORDS=(aichat ${words.join(' ')}); COMP_CWORD=${words.length}; _aichat; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { env: environment, encoding: 'utf8' })
    assert.ok(stdout.split('\n').includes(found), `${stdout}${stderr}`)
  })

  when(fish)(`fish completes "${words.join(' ')}" to ${found}`, () => {
    const script = `source ${join(root, 'completions', 'aichat.fish')}; complete -C 'aichat ${words.join(' ')}'`
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { env: environment, encoding: 'utf8' })
    assert.ok(
      stdout.split('\n').some((line) => line.split('\t')[0] === found),
      `${stdout}${stderr}`,
    )
  })

  when(zsh)(`zsh completes "${words.join(' ')}" to ${found}`, () => {
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', zshScript(words.join(' '), found)], {
      env: environment,
      encoding: 'utf8',
      timeout: 30_000,
    })
    assert.ok(stdout.includes(found), `${stdout}${stderr}`)
  })
}

/** Files whose names hold a colon, which bash takes as the end of a word. */
mkdirSync(join(folder, 'notes:2026'))
writeFileSync(join(folder, 'notes:2026', 'my may.md'), '')

const bashReply = (words: readonly string[], line: string) => {
  const script = `source ${join(root, 'completions', 'aichat.bash')}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; COMP_LINE='${line}'; COMP_POINT=${line.length}; _aichat; printf '%s\\n' "\${COMPREPLY[@]}"`
  return spawnSync('bash', ['--norc', '-c', script], { env: environment, encoding: 'utf8' }).stdout.split('\n')
}

when(bash)('bash completes behind a colon, and quotes what a shell would read otherwise', async () => {
  assert.ok(
    bashReply(['aichat', 'chat', '-m', 'groq', ':', 'llama'], 'aichat chat -m groq:llama').some((word) =>
      /^llama/.test(word),
    ),
  )
  const { code } = await runMain(['persona', 'create', '--name', 'Ada $(touch x) Byron', '--model', 'm'], {
    environment,
  })
  assert.is(code, 0)
  assert.ok(bashReply(['aichat', 'chat', '-p', 'Ad'], 'aichat chat -p Ad').includes('Ada\\ \\$\\(touch\\ x\\)\\ Byron'))
})

when(bash)('bash completes files behind a colon as well as those behind an argument with one', () => {
  const chat = ['aichat', 'chat', '-f', `${folder}/notes`, ':']
  assert.equal(bashReply([...chat, ''], `aichat chat -f ${folder}/notes:`), ['2026/', ''])
  assert.equal(bashReply([...chat, '2026/m'], `aichat chat -f ${folder}/notes:2026/m`), ['2026/my\\ may.md', ''])
  // None of ours: bash completes a file by itself.
  const model = ['aichat', 'chat', '-m', 'groq', ':', 'llama', '-f']
  assert.equal(bashReply([...model, folder], `aichat chat -m groq:llama -f ${folder}`), ['', ''])
})

when(fish)('fish completes files behind a colon as well as those behind an argument with one', () => {
  for (const line of [`-f ${folder}/notes:2026/m`, `-m groq:llama -f ${folder}/notes:2026/m`]) {
    const script = `source ${join(root, 'completions', 'aichat.fish')}; complete -C 'aichat chat ${line}'`
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { env: environment, encoding: 'utf8' })
    assert.is(stdout, `${folder}/notes:2026/my may.md\n`, line)
  }
})

test('the words of every kind are known', async () => {
  const kinds = [...files.get('completions/aichat.fish')!.matchAll(/__complete ([a-z-]+)/g)].map(([, kind]) => kind!)
  const installation = openInstallation()
  const environment = {
    AICHAT_HOME: installation.home,
    HOME: installation.home,
    OLLAMA_HOST: '127.0.0.1:9',
    OPENAI_API_KEY: canary,
  }
  try {
    const run = (words: readonly string[], input?: string) =>
      runMain(words, { environment, ...(input !== undefined && { input }) })
    assert.is((await run(['--local', 'setup', '--username', 'ada', '--password-stdin'], 'Passw0rd')).code, 0)
    assert.is((await run(['persona', 'create', '--name', 'Mia', '--model', 'm'])).code, 0)
    assert.is((await run(['template', 'create', 'review', '--prompt', 'Review'])).code, 0)
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
    for (const kind of new Set(kinds)) {
      const { code, stdout, stderr } = await run(['__complete', kind, contexts[kind] ?? ''])
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
    // The entry behind a Tab prints the same, without the command tree.
    for (const kind of ['personas', 'models', 'memories', 'keys']) {
      const [program, ...args] = aichatCommand
      const line = [...args, '--timeout', '1s', '__complete', kind, contexts[kind] ?? '']
      const { stdout, stderr } = spawnSync(program!, line, {
        env: { PATH: process.env['PATH'], ...environment },
        encoding: 'utf8',
      })
      assert.equal([stdout.split('\n').filter(Boolean), stderr], [words.get(kind), ''])
    }
  } finally {
    await installation.close()
  }
})

const unit = join(folder, 'aichat.service')
let socketText = ''

test('the systemd unit runs this installation', async () => {
  const { code, stdout } = await runMain(['help', 'systemd'], { environment })
  assert.is(code, 0)
  assert.ok(stdout.includes(join(root, 'bin', 'aichat')))
  writeFileSync(unit, stdout)
  assert.is((await runMain(['service', 'unit'], { environment })).stdout, stdout)
  socketText = (await runMain(['service', 'unit', '--socket'], { environment })).stdout
})

when(haveProgram('systemd-analyze', 'systemd'))('systemd finds nothing wrong with the unit, and little exposed', () => {
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.equal([verified.status, verified.stderr], [0, ''])
  const socket = join(folder, 'aichat.socket')
  writeFileSync(socket, socketText)
  const both = spawnSync('systemd-analyze', ['verify', unit, socket], { encoding: 'utf8' })
  assert.equal([both.status, both.stderr], [0, ''])
  const scored = spawnSync('systemd-analyze', ['security', '--offline=yes', unit], { encoding: 'utf8' })
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(scored.stdout)?.[1])
  assert.ok(exposure <= 1.6, scored.stdout)
})

when(zsh)('zsh reads its script without complaint', () => {
  assert.is(spawnSync('zsh', ['-n', join(root, 'completions', '_aichat')]).status, 0)
})

test('a completion asks and prints nothing on an error', () => {
  writeFileSync(join(folder, 'config.json'), '{ broken')
  const { status, stdout, stderr } = spawnSync(join(folder, 'bin', 'aichat'), ['__complete', 'plugins'], {
    env: environment,
    encoding: 'utf8',
  })
  rmSync(join(folder, 'config.json'))
  assert.equal([status, stdout, stderr], [0, '', ''])
})

test.run()

/** Types a line and a tab into an interactive zsh on a pseudo-terminal, and prints the terminal's output. */
function zshScript(line: string, found: string): string {
  return `
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -d ${folder}/zcompdump; source ${join(root, 'completions', '_aichat')}; print READY"
shown=''
for try in {1..100}; do zpty -r -t shell piece && shown+=$piece; [[ $shown == *READY*READY* ]] && break; sleep 0.05; done
zpty -n -w shell "aichat ${line}"$'\\t'
shown=''
for try in {1..200}; do zpty -r -t shell piece && shown+=$piece; [[ $shown == *'${found}'* ]] && break; sleep 0.05; done
print -r -- "$shown"
zpty -d shell
`
}
