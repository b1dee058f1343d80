// Some with --all only: many processes.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand, openHome } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('places that take no data')

test.whole('a first command on a disk without room says so, and is no bug', () => {
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

test.whole('a journal of usage that cannot be written is told in a line of aichat, and the work is done', async () => {
  const home = openFastHome()
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
  const home = openFastHome()
  const inNull = { AICHAT_HOME: '', XDG_DATA_HOME: '/dev/null' }
  const { stdout } = await home.aichat(['doctor'], { environment: inNull })
  const create = ['persona', 'create', '--name', 'Ada', '-m', 'm']
  const refused = await home.aichat(create, { environment: inNull })
  home.remove()
  assert.match(stdout, /^failed +folder: \/dev\/null\/\S+ cannot be created: \/dev\/null cannot be written$/m)
  assert.match(stdout, /set AICHAT_HOME to another folder/)
  assert.is(refused.code, 73)
  assert.match(
    refused.stderr,
    /^aichat: The folder \/dev\/null\/\S+ cannot be made: part of its path is not a folder\n {2}Or choose another folder: export AICHAT_HOME=FOLDER\n$/,
  )
})

test('a folder that no system call can make is refused at once, in one sentence', async () => {
  const home = openFastHome()
  for (const command of [['status'], ['persona', 'create', '--name', 'Ada', '-m', 'm']]) {
    const { code, stderr } = await home.aichat(command, { environment: { AICHAT_HOME: '/proc/x' } })
    assert.is(code, 73, command.join(' '))
    assert.is(stderr, 'aichat: The folder /proc/x cannot be made: the system allows none there\n')
  }
  home.remove()
})

test('a home that a file, a loop of links or its length keeps from being a folder is refused, also by a command that reads alone', async () => {
  const home = openFastHome()
  writeFileSync(join(home.folder, 'file'), '')
  symlinkSync('loop', join(home.folder, 'loop'))
  for (const [name, reason] of [
    ['file', 'part of its path is not a folder'],
    ['file/below', 'part of its path is not a folder'],
    ['loop', 'a link in its path leads back to itself'],
    ['n'.repeat(300), 'its path or a name in it is too long'],
  ] as const) {
    const environment = { AICHAT_HOME: join(home.folder, name) }
    const { code, stderr } = await home.aichat(['plugin', 'list'], { environment })
    assert.equal([code, stderr], [73, `aichat: The folder ${environment.AICHAT_HOME} cannot be made: ${reason}\n`])
  }
  home.remove()
})

test.whole(
  'empty and relative folders of the environment are ignored, so that nothing is written where a command starts',
  () => {
    const home = openHome()
    const user = join(home.folder, 'user')
    const started = join(home.folder, 'started')
    mkdirSync(user)
    mkdirSync(started)
    const variables: readonly Record<string, string>[] = [
      { AICHAT_HOME: 'data' },
      { AICHAT_HOME: '' },
      { XDG_CONFIG_HOME: 'config', XDG_DATA_HOME: './data', XDG_STATE_HOME: '', XDG_CACHE_HOME: 'cache' },
      { STATE_DIRECTORY: 'state', CONFIGURATION_DIRECTORY: ':', CACHE_DIRECTORY: 'a:b' },
    ]
    for (const variable of variables) {
      const { status, stderr } = start(['persona', 'create', '--name', 'Ada', '-m', 'm'], { HOME: user, ...variable })
      assert.is(status, 0, stderr)
      assert.ok(existsSync(join(user, '.local/share/aichat-toolkit/aichat.db')), JSON.stringify(variable))
      rmSync(user, { recursive: true })
    }
    // An empty or relative HOME counts as that of the system: data is looked for, and nothing is written.
    for (const HOME of ['', 'user']) assert.is(start(['config', 'list'], { HOME }).status, 0)
    const noModels = { HOME: user, AICHAT_MODELS_DIR: 'models', HF_ENDPOINT: 'http://127.0.0.1:9' }
    assert.is(start(['models', 'pull', 'smollm2-135m'], noModels).status, 69)
    assert.match(start(['doctor'], noModels).stdout, /AICHAT_MODELS_DIR \(models\.folder\) is ignored/)
    assert.equal(readdirSync(started), [])
    assert.match(start(['doctor'], { HOME: user, AICHAT_HOME: 'data' }).stdout, /AICHAT_HOME is ignored/)
    home.remove()

    function start(words: readonly string[], environment: Record<string, string>) {
      const [command, ...rest] = [...aichatCommand, ...words]
      const env = { PATH: process.env['PATH'], ...environment }
      return spawnSync(command!, rest, { cwd: started, env, encoding: 'utf8' })
    }
  },
)

test.run()
