// Some with --all only: many processes.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { haveProgram } from '../../helpers/debian.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { suite } from '../../helpers/suite.ts'

/** A home folder of its own, with `aichat` on its path. */
const home = temporaryFolder()
const command = join(home, '.local', 'bin', 'aichat')
mkdirSync(dirname(command), { recursive: true })
writeFileSync(command, `#!/bin/sh\nexec ${aichatCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`)
chmodSync(command, 0o755)
const environment = {
  PATH: `${dirname(command)}:${process.env['PATH']}`,
  HOME: home,
  AICHAT_HOME: join(home, 'aichat'),
  TERM: 'xterm',
  LC_ALL: 'C.UTF-8',
}

const test = suite('aichat completion install')
function run(program: string, args: readonly string[], variables: Record<string, string> = {}) {
  return spawnSync(program, args, { encoding: 'utf8', env: { ...environment, ...variables }, cwd: home })
}

const install = (args: readonly string[], variables?: Record<string, string>) =>
  run('aichat', ['completion', 'install', ...args], variables)

const have = (program: string, debianPackage = program) => (haveProgram(program, debianPackage) ? test : test.skip)

test('takes the shell of $SHELL, and names what is left to do', () => {
  const { status, stdout, stderr } = install([], { SHELL: '/usr/bin/zsh' })
  assert.is(status, 0)
  assert.ok(existsSync(join(home, '.local', 'share', 'zsh', 'site-functions', '_aichat')))
  assert.match(stdout, '/site-functions/_aichat\n')
  assert.match(stderr, /put this line into .*\.zshrc, before compinit: fpath=\(/)
  assert.match(
    install([], { SHELL: '/bin/tcsh' }).stderr,
    /Name the shell: bash, zsh, fish\n {2}There are no completions/,
  )
  assert.is(install([], { SHELL: '' }).status, 64)
})

have('bash')('bash finds it where bash-completion looks', () => {
  assert.is(install(['bash']).status, 0)
  const script = join(home, '.local', 'share', 'bash-completion', 'completions', 'aichat')
  const { stdout } = run('bash', [
    '-c',
    `. '${script}'; COMP_WORDS=(aichat plug); COMP_CWORD=1; $(complete -p aichat | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo "\${COMPREPLY[@]}"`,
  ])
  assert.match(stdout, /^plugin\b/)
})

have('fish')('fish completes from then on', () => {
  assert.is(install(['fish']).status, 0)
  assert.match(run('fish', ['-c', 'complete -C "aichat plug"']).stdout, /^plugin\b/)
})

have('man', 'man-db')('man finds the manual pages beside a command in ~/.local/bin', () => {
  assert.is(install(['bash']).status, 0)
  assert.match(run('man', ['-w', 'aichat']).stdout, join(home, '.local', 'share', 'man', 'man1', 'aichat.1'))
})

test('a file of another program stays, and nothing is written beside it; --force replaces it', () => {
  const path = join(home, '.config', 'fish', 'completions', 'aichat.fish')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'complete -c other\n')
  rmSync(join(home, '.local', 'share'), { recursive: true, force: true })
  const refused = install(['fish', 'bash'])
  assert.is(refused.status, 73)
  assert.match(refused.stderr, `Not made by aichat, so not replaced: ${path}`)
  assert.is(readFileSync(path, 'utf8'), 'complete -c other\n')
  assert.not(existsSync(join(home, '.local', 'share', 'bash-completion')))
  assert.is(install(['fish', '--force']).status, 0)
  assert.match(readFileSync(path, 'utf8'), 'fish completion for aichat')
})

test.whole('--remove takes away what it wrote, once and twice', () => {
  const { installed } = JSON.parse(install(['bash', 'zsh', 'fish', '--force', '--json']).stdout) as {
    installed: string[]
  }
  assert.ok(installed.length >= 5 && installed.every((path) => existsSync(path)))
  for (const _ of ['once', 'twice']) assert.is(install(['bash', 'zsh', 'fish', '--remove']).status, 0)
  assert.equal(
    installed.filter((path) => existsSync(path)),
    [],
  )
})

test.run()
