import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { createKeychain } from '../../src/keychain/keychain.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the keychain')

const there = ['dbus-run-session', 'gnome-keyring-daemon'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
)
const whereThereIsOne = there ? test : test.skip

test('a missing keychain and one that never answers are reported in time, and nothing hangs', async () => {
  const folder = temporaryFolder()
  const mute = createServer(() => {}).listen(join(folder, 'bus'))
  await once(mute, 'listening')
  for (const address of ['unix:path=/nonexistent', `unix:path=${join(folder, 'bus')}`]) {
    process.env['DBUS_SESSION_BUS_ADDRESS'] = address
    const keychain = createKeychain(1500)
    for (const attempt of [
      () => keychain.probe(),
      () => keychain.get('x'),
      () => keychain.set('x', 'y'),
      () => keychain.remove('x'),
    ]) {
      const reason = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      assert.instance(reason, AppError, address)
      assert.is((reason as AppError).code, 'unavailable')
      assert.match((reason as AppError).details.join(' '), /--insecure-storage.*AICHAT_TOKEN/)
    }
  }
  mute.close()
  rmSync(folder, { recursive: true })
})

whereThereIsOne('a real one keeps a key, which then stands in no file and is found by its name', async () => {
  const home = temporaryFolder()
  const key = 'gsk-canary-0123456789'
  const aichat = aichatCommand.join(' ')
  const script = [
    'set -e',
    'printf pw | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1',
    `echo ${key} | ${aichat} secret set GROQ_API_KEY --json`,
    `${aichat} secret list --plain`,
    `${aichat} plugin list --plain | grep ^groq`,
    `${aichat} secret remove GROQ_API_KEY --json`,
    `${aichat} secret list --plain`,
  ].join('\n')
  const child = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env: { ...process.env, HOME: home, AICHAT_HOME: home, XDG_RUNTIME_DIR: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString()
  })
  const [code] = await once(child, 'close')
  assert.is(code, 0, output)
  assert.match(output, /"stored": "keychain"/)
  assert.match(output, /GROQ_API_KEY\tkeychain\n/)
  assert.match(output, /groq\t\tcompletion\tready/)
  assert.is(output.match(/GROQ_API_KEY\t/g)!.length, 1, 'gone after it was removed')
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const path = join(home, name)
    if (statSync(path).isFile()) assert.not.ok(readFileSync(path).includes(key), name)
  }
  rmSync(home, { recursive: true, force: true })
})

test.run()
