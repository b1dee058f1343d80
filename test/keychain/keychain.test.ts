// Some with --all only: many processes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { chooseStorage, createKeychain } from '../../src/keychain/native-keychain.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { rejects } from '../helpers/rejection.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('the keychain')

const there = ['dbus-run-session', 'gnome-keyring-daemon'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
)
const whereThereIsOne = there ? test : test.skip

test.whole('a missing keychain and one that never answers are reported in time, and nothing hangs', async () => {
  const folder = temporaryFolder()
  // One that is not read would not notice that its client has gone.
  const mute = createServer((socket) => socket.resume()).listen(join(folder, 'bus'))
  await once(mute, 'listening')
  const addresses = ['unix:path=/nonexistent', `unix:path=${join(folder, 'bus')}`] as const
  for (const address of addresses) {
    process.env['DBUS_SESSION_BUS_ADDRESS'] = address
    const keychain = createKeychain(1500)
    const attempts = [
      () => keychain.probe(),
      () => keychain.get('x'),
      () => keychain.set('x', 'y'),
      () => keychain.remove('x'),
    ]
    // Each attempt starts a process, and waits for it where nothing answers.
    for (const attempt of isWholeRun || address === addresses[0] ? attempts : attempts.slice(0, 1)) {
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

test('a secret is stored, read, replaced and removed through the child; with another library in place of keytar', async () => {
  const folder = temporaryFolder()
  const library = useLibrary(folder)
  try {
    const keychain = createKeychain(60_000)
    await keychain.probe()
    assert.equal(library.entries(), {}, 'a probe removes what it stored')
    await keychain.set('A', 'first')
    await keychain.set('B', 'second')
    await keychain.set('A', 'third')
    assert.equal(library.entries(), { 'aichat-toolkit A': 'third', 'aichat-toolkit B': 'second' })
    assert.equal([await keychain.get('A'), await keychain.get('C')], ['third', undefined])
    assert.equal([await keychain.remove('A'), await keychain.remove('A')], [true, false])
    assert.equal(library.entries(), { 'aichat-toolkit B': 'second' })
    library.forgetEverything()
    await rejects(keychain.probe(), 'unavailable', /was not read back/)
  } finally {
    library.end()
  }
})

test('secrets are kept in the keychain where it works, else in a file where that is allowed', async () => {
  const works = { probe: async () => {} }
  const fails = { probe: async () => Promise.reject(new AppError('unavailable', 'No usable keychain found')) }
  assert.equal(await Promise.all([chooseStorage(works, true), chooseStorage(works, false)]), ['keychain', 'keychain'])
  assert.is(await chooseStorage(fails, true), 'file')
  await rejects(chooseStorage(fails, false), 'unavailable', /No usable keychain/)
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

/** Puts a library with keytar's functions in its place, in every child until the end; its entries are in a file. */
function useLibrary(folder: string) {
  const [file, module, loader] = ['entries.json', 'keytar.mjs', 'loader.mjs'].map((name) => join(folder, name))
  const earlier = process.env['NODE_OPTIONS']
  const write = (entries: object) => writeFileSync(file!, JSON.stringify(entries))
  write({})
  writeFileSync(
    module!,
    `import { readFileSync, writeFileSync } from 'node:fs'
    const file = ${JSON.stringify(file)}
    const read = () => JSON.parse(readFileSync(file, 'utf8'))
    const change = (alter) => {
      const entries = read()
      const result = alter(entries)
      if (!entries.forgets) writeFileSync(file, JSON.stringify(entries))
      return result
    }
    export default {
      setPassword: async (service, account, secret) => void change((all) => (all[service + ' ' + account] = secret)),
      getPassword: async (service, account) => read()[service + ' ' + account] ?? null,
      deletePassword: async (service, account) =>
        change((all) => all[service + ' ' + account] !== undefined && delete all[service + ' ' + account]),
    }`,
  )
  writeFileSync(
    loader!,
    `import { register } from 'node:module'
    const hook = \`export const resolve = (name, context, next) =>
      name === 'keytar' ? { url: ${JSON.stringify(pathToFileURL(module!).href)}, shortCircuit: true } : next(name, context)\`
    register('data:text/javascript,' + encodeURIComponent(hook))`,
  )
  process.env['NODE_OPTIONS'] = `${earlier ?? ''} --import=${pathToFileURL(loader!).href}`
  return {
    entries: () => JSON.parse(readFileSync(file!, 'utf8')) as object,
    forgetEverything: () => write({ forgets: true }),
    end() {
      if (earlier === undefined) delete process.env['NODE_OPTIONS']
      else process.env['NODE_OPTIONS'] = earlier
    },
  }
}

test.run()
