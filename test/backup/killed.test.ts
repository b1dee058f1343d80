// With --all only: a killed process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import '../helpers/cheap-bcrypt.ts'
import { listFolder } from '../../src/storage/files/atomic.ts'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('backups and restores that are killed')

/** Moments of the kill, in milliseconds after the start: loading takes some 200. */
const moments = [150, 300, 450, 600, 800]

test('a backup that is killed at any moment leaves the others whole, and the next one sweeps what it left', async () => {
  using home = openFastHome()
  const run = (words: string) => home.aichat(['--local', ...words.split(' ')])
  await home.aichat(['--local', 'setup', '--username', 'ada', '--password-stdin'], { input: 'Passw0rd\n' })
  await fill(join(home.folder, 'aichat.db'))
  assert.is((await run('backup create')).code, 0)
  for (const moment of moments) await killed(home.folder, ['backup', 'create'], moment)
  const left = () => listFolder(join(home.folder, 'backup-work'))
  // A child of the last killed one may live for a moment longer: then the one after it sweeps.
  for (let count = 0; count === 0 || (left().length > 0 && count < 5); count++) {
    const { code, stderr } = await run('backup create')
    assert.is(code, 0, stderr)
  }
  assert.equal(left(), [])
  for (const name of readdirSync(join(home.folder, 'full-backups'))) {
    assert.match(name, /^aichat-.*\.tar\.gz$/)
    assert.is((await run(`backup verify ${name}`)).code, 0, name)
  }
})

test('a restore that is killed at any moment leaves all of the old state or all of the new', async () => {
  using home = openFastHome()
  const run = (words: string) => home.aichat(['--local', ...words.split(' ')])
  await home.aichat(['--local', 'setup', '--username', 'ada', '--password-stdin'], { input: 'Passw0rd\n' })
  await run('config set chat.model then')
  await fill(join(home.folder, 'aichat.db'))
  assert.is((await run('backup create')).code, 0)
  for (const moment of moments) {
    await run('config set chat.model now')
    await run('persona create --name Later --model m')
    await killed(home.folder, ['backup', 'restore', '--yes'], moment)
    // The first command finishes a restore that was decided, and says so.
    const first = await run('persona list')
    if (first.code !== 0) assert.match(first.stderr, /has been finished: start again/)
    const isNew = !/Later/.test((await run('persona list')).stdout)
    assert.is((await run('config get chat.model')).stdout, isNew ? 'then\n' : 'now\n')
    assert.is((await run('backup verify')).code, 0)
    if (!isNew)
      for (const id of idsIn((await run('persona list --json')).stdout)) await run(`persona remove ${id} --yes`)
  }
  assert.is((await run('backup restore --yes')).code, 0)
  assert.equal(
    readdirSync(home.folder).filter((name) => name.startsWith('.restore-')),
    [],
  )
})

test.run()

/** Makes a database large enough that copying and packing it takes some time. */
async function fill(path: string): Promise<void> {
  const db = await openDatabase(path)
  const write = db.prepare("INSERT INTO audit (at, action, outcome) VALUES (?, hex(randomblob(500)), 'ok')")
  db.transaction(() => {
    for (let row = 0; row < 8_000; row++) write.run(row)
  })()
  db.close()
}

async function killed(folder: string, words: readonly string[], afterMs: number): Promise<void> {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, '--local', ...words], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: folder, HOME: folder, OLLAMA_HOST: '127.0.0.1:9' },
    stdio: 'ignore',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await once(child, 'exit')
  clearTimeout(timer)
}

function idsIn(json: string): readonly string[] {
  return (JSON.parse(json) as { personas: readonly { id: string }[] }).personas.map(({ id }) => id)
}
