// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openScratch, sweepScratch } from '../../../src/personas/package/scratch.ts'
import { holder } from '../../../src/process/holders.ts'
import { until } from '../../helpers/eventually.ts'
import { aichatCommand, openHome } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const leftovers = suite('the package files of a killed process')

const secret = 'nobody else may read this'

/** Every file in those folders of a home that holds the secret. */
function told(folder: string): readonly string[] {
  return ['packages', '.aichat-export-1', 'precious']
    .map((name) => join(folder, name))
    .flatMap((path) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []))
    .filter((path) => readFileSync(path).includes(secret))
}

/** The command in that home, in the middle of reading stdin. */
function midway(folder: string, words: readonly string[]) {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, ...words], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: folder, HOME: folder, OLLAMA_HOST: '127.0.0.1:9' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // More than is gathered before it is written, and no end.
  child.stdin.write(`{"persona":{"name":"${secret.repeat(200_000)}`)
  child.stdin.on('error', () => undefined)
  return child
}

leftovers.whole('are gone after the next command, of an import as of a verification', async () => {
  using home = openFastHome()
  const commands = ['import', 'verify'].map((word) => midway(home.folder, ['persona', word, '-']))
  await until(() => told(home.folder).length >= 2)
  // Another process leaves them alone.
  assert.is((await home.aichat(['persona', 'list'])).code, 0)
  assert.is(told(home.folder).length, 2)
  for (const command of commands) {
    const ended = once(command, 'exit')
    command.kill('SIGKILL')
    await ended
  }
  assert.is(told(home.folder).length, 2)
  assert.is((await home.aichat(['persona', 'list'])).code, 0)
  assert.equal(told(home.folder), [])
})

leftovers('are removed where they were written beside another file, and no other file is', () => {
  using home = openHome()
  const folder = join(home.folder, 'packages')
  const mine = openScratch(folder, () => 'mine')
  const [export1, other] = [join(home.folder, '.aichat-export-1'), join(home.folder, 'precious')]
  for (const each of [export1, other]) {
    mkdirSync(each)
    writeFileSync(join(each, 'package'), secret)
  }
  writeFileSync(mine.path(), secret)
  const note = mine.note(export1)
  sweepScratch(folder)
  assert.is(told(home.folder).length, 3)
  note.forget()
  // Nothing has a number beyond the highest that Linux gives.
  const dead = (name: string) => join(folder, `pid4194305-1.${name}`)
  writeFileSync(dead('a.note'), export1)
  writeFileSync(dead('b.note'), other)
  writeFileSync(dead('c'), secret)
  // The number of a process that runs, and another one's start.
  writeFileSync(join(folder, `pid${process.pid}-1.d`), secret)
  sweepScratch(folder)
  assert.equal(readdirSync(folder), [`${holder()}.mine`])
  assert.equal([existsSync(export1), existsSync(other)], [false, true])
})

leftovers.run()
