import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand, openHome } from '../../command.ts'
import { suite } from '../../suite.ts'

const test = suite('places that take no data')

test('a first command on a disk without room says so, and is no bug', () => {
  const home = openHome()
  // The system ends files at 100 KiB (200 blocks of 512 bytes), in the middle of the first tables.
  const create = ['persona', 'create', '--name', 'Ada', '-m', 'm']
  const command = `ulimit -f 200; exec ${[...aichatCommand, ...create].map((word) => `'${word}'`).join(' ')}`
  const { status, stderr } = spawnSync('sh', ['-c', command], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
    encoding: 'utf8',
  })
  home.remove()
  assert.match(stderr, /^aichat: The disk (?:is full|could not be read or written)\n$/)
  assert.is(status, 74)
})

test('a journal of usage that cannot be written is told in a line of aichat, and the work is done', async () => {
  const home = openHome()
  writeFileSync(join(home.folder, 'usage'), 'a file in the place of the folder')
  const { code, bytes, stderr } = await home.aichat(['tts', 'Hello.'])
  const quiet = await home.aichat(['tts', '--quiet', 'Hello.'])
  home.remove()
  assert.is(code, 0)
  assert.is(bytes.toString('latin1', 0, 4), 'RIFF')
  assert.match(stderr, /^aichat: The journal of usage could not be written: a crash would lose rows: [^\n]+\n$/)
  assert.is(quiet.stderr, '')
})

test('doctor finds a folder that cannot be made, and a command that needs one names the way out', async () => {
  const home = openHome()
  const inNull = { AICHAT_HOME: '', XDG_DATA_HOME: '/dev/null' }
  const { stdout } = await home.aichat(['doctor'], { environment: inNull })
  const create = ['persona', 'create', '--name', 'Ada', '-m', 'm']
  const refused = await home.aichat(create, { environment: inNull })
  home.remove()
  assert.match(stdout, /^failed +folder: \/dev\/null\/\S+ cannot be created: \/dev\/null cannot be written$/m)
  assert.match(stdout, /set AICHAT_HOME to another folder/)
  assert.is(refused.code, 74)
  assert.match(refused.stderr, /File: \/dev\/null\/.*\n.*\n {2}Or choose another folder: export AICHAT_HOME=FOLDER\n$/)
})

test.run()
