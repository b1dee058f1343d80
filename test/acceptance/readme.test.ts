// With --all only: many processes.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('README')

const withFile = haveProgram('file') ? test : test.skip

withFile(
  "the commands of the opening print what stands below them, but for ids, times and a score's last digits",
  () => {
    const readme = readFileSync(fileURLToPath(new URL('./README.md', import.meta.resolve('#package'))), 'utf8')
    const opening = /```console\n([\s\S]*?)```/.exec(readme)![1]!
    const commands = [...opening.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command!)
    assert.ok(commands.length >= 5)
    const folder = temporaryFolder()
    const printed = commands.map((command) => `$ ${command}\n${outputOf(command, folder)}`).join('')
    assert.fixture(masked(printed), masked(opening))
  },
)

test.run()

function outputOf(command: string, folder: string): string {
  const programs = join(folder, 'bin')
  mkdirSync(programs, { recursive: true })
  const program = join(programs, 'aichat')
  writeFileSync(program, `#!/bin/sh\nexec ${aichatCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  const { stdout, stderr, status } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${programs}:${process.env['PATH']}`,
      HOME: folder,
      AICHAT_HOME: join(folder, 'home'),
      OLLAMA_HOST: '127.0.0.1:9',
    },
  })
  assert.is(status, 0, stderr)
  return stdout
}

function masked(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\d( \d\d:\d\d)?/g, 'TIME')
    .replace(/(\d\.\d)\d+/g, '$1')
}
