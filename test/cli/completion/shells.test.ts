// With --all only: many processes: real shells, each of which starts the program at every Tab.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { haveProgram } from '../../helpers/debian.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const scripts = fileURLToPath(new URL('./completions/', import.meta.resolve('#package')))

/** A folder with `aichat` on its path, as after an installation. */
const folder = temporaryFolder()
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

/** The records of this machine, as a user makes them; the id of a memory among them. */
async function makeRecords(): Promise<string> {
  const run = async (words: readonly string[]) => {
    const { code, stdout, stderr } = await runMain(words, { environment })
    assert.is(code, 0, stderr)
    return stdout
  }
  await run(['persona', 'create', '--name', 'Mia', '--model', 'openai:gpt-4.1-mini'])
  await run(['mcp', 'add', 'files', '--', 'true'])
  return JSON.parse(await run(['persona', 'memory', 'add', 'Mia', 'My cat is called Tom', '--json'])).id
}

const memory = await makeRecords()

const test = suite('completions in shells')
const when = (have: boolean) => (have ? test : test.skip)
const [bash, zsh, fish] = [haveProgram('bash'), haveProgram('zsh'), haveProgram('fish')]

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
  [['chat', '-m', 'fas'], 'fast'],
  [['chat', '--mcp', 'fil'], 'files'],
  [['mcp', 'show', 'fil'], 'files'],
  [['config', 'set', 'chat.local_only', 'tr'], 'true'],
  [['config', 'set', 'log.level', 'deb'], 'debug'],
  [['tts', '--language', 'Germ'], 'German'],
]

/** Runs a script in a shell; one shell answers all that it asks. */
function shell(name: 'bash' | 'zsh' | 'fish', script: string): string {
  const options = { bash: '--norc', zsh: '-f', fish: '--no-config' }
  const { stdout, stderr } = spawnSync(name, [options[name], '-c', script], { env: environment, encoding: 'utf8' })
  assert.is(stderr, '')
  return stdout
}

/** A line between two answers of a shell. */
const end = '=== end ==='

when(bash)('bash completes words', () => {
  const ask = completions.map(
    ([words]) =>
      `COMP_WORDS=(aichat ${words.join(' ')}); COMP_CWORD=${words.length}; _aichat; printf '%s\\n' "\${COMPREPLY[@]}" '${end}'`,
  )
  const answers = shell('bash', [`source ${join(scripts, 'aichat.bash')}`, ...ask].join('\n')).split(`${end}\n`)
  for (const [index, [words, found]] of completions.entries())
    assert.ok(answers[index]!.split('\n').includes(found), `${words.join(' ')}: ${answers[index]}`)
})

when(fish)('fish completes words', () => {
  const ask = completions.map(([words]) => `complete -C 'aichat ${words.join(' ')}'; echo '${end}'`)
  const answers = shell('fish', [`source ${join(scripts, 'aichat.fish')}`, ...ask].join('\n')).split(`${end}\n`)
  for (const [index, [words, found]] of completions.entries())
    assert.ok(
      answers[index]!.split('\n').some((line) => line.split('\t')[0] === found),
      `${words.join(' ')}: ${answers[index]}`,
    )
})

when(zsh)('zsh completes words', () => {
  const answers = shell('zsh', zshScript()).split(`${end}\n`)
  for (const [index, [words, found]] of completions.entries())
    assert.ok(answers[index]!.includes(found), `${words.join(' ')}: ${answers[index]}`)
})

/** Files whose names hold a colon, which bash takes as the end of a word. */
mkdirSync(join(folder, 'notes:2026'))
writeFileSync(join(folder, 'notes:2026', 'my may.md'), '')

const bashReply = (words: readonly string[], line: string) => {
  const script = `source ${join(scripts, 'aichat.bash')}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; COMP_LINE='${line}'; COMP_POINT=${line.length}; _aichat; printf '%s\\n' "\${COMPREPLY[@]}"`
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
    const script = `source ${join(scripts, 'aichat.fish')}; complete -C 'aichat chat ${line}'`
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { env: environment, encoding: 'utf8' })
    assert.is(stdout, `${folder}/notes:2026/my may.md\n`, line)
  }
})

test.run()

/**
 * Types lines and a tab into an interactive zsh on a pseudo-terminal, and prints its output for each. A blocking read returns
 * as soon as it has shown something.
 */
function zshScript(): string {
  const asked = completions.map(
    ([words, found]) => `
zpty -n -w shell "aichat ${words.join(' ')}"$'\\t'
shown=''
while zpty -r shell piece '*'; do shown+=$piece; [[ $shown == *'${found}'* ]] && break; done
print -r -- "$shown"
print '${end}'
zpty -n -w shell $'\\x15'`,
  )
  return `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -d ${folder}/zcompdump; source ${join(scripts, '_aichat')}; print REA''DY"
shown=''
while zpty -r shell piece '*'; do shown+=$piece; [[ $shown == *READY* ]] && break; done
${asked.join('')}
zpty -d shell
`
}
