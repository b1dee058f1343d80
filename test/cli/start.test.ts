// Some with --all only: a whole sample.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { buildProgram } from '../../src/cli/program.ts'
import type { Cli } from '../../src/cli/terminal/cli.ts'
import { aichatCommand, openHome } from '../helpers/program/command.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'
import { behindTab, furnish, loadedBy, mostUsed } from './most-used.ts'

const test = suite('starting aichat')
const home = openFastHome()
test.after(() => home.remove())

/** The program module by module: the bundle joins modules, and their names are lost. */
const main = new URL('../../src/cli/main.js', import.meta.url).href
const run = `process.exitCode = await (await import('${main}')).main(process.argv.slice(1))`
const unbundled = import.meta.url.endsWith('.ts')
  ? aichatCommand
  : [process.execPath, '--input-type=module', '-e', run, '--']

test('--version says which aichat this is', async () => {
  const { code, stdout } = await home.aichat(['--version'])
  assert.is(code, 0)
  assert.match(stdout, /^aichat \d+\.\d+\.\d+ \(aichat-toolkit\)\n$/)
})

/** All of a list, or its ends. */
function sampleOf<T>(list: readonly T[]): readonly T[] {
  return isWholeRun ? list : [list[0]!, list.at(-1)!]
}

/** Runs the program module by module, with the names of all modules that are loaded on stderr. */
function traced(...words: readonly string[]) {
  const [program, ...args] = unbundled
  // NODE_DEBUG=esm names every module that is loaded.
  const options = { env: { PATH: process.env['PATH'], NODE_DEBUG: 'esm' }, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(program!, [...args, ...words], options)
  const modules = new Set([...stderr.matchAll(/\/(src\/[\w/.-]+)\.[jt]s\b/g)].map(([, path]) => path))
  return { status, stdout, stderr, modules: [...modules] }
}

test('--help and --version load neither the command tree nor a library', () => {
  for (const option of ['--help', '-V']) {
    const { status, stdout, stderr, modules } = traced(option)
    assert.is(status, 0)
    assert.match(stdout, /^(?:Usage: )?aichat/)
    assert.not.match(stderr, /node_modules\//)
    assert.ok(modules.length <= 8, modules.join(' '))
  }
})

test('-h and --version print the same', async () => {
  const printed = async (option: string) => (await home.aichat([option])).stdout
  assert.is(await printed('-h'), await printed('--help'))
  assert.is(await printed('--version'), await printed('-V'))
})

test('the help of a command loads the command tree and nothing of the core', () => {
  const { status, stdout, stderr, modules } = traced('chat', '--help')
  assert.is(status, 0)
  assert.match(stdout, /^Usage: aichat chat/)
  for (const library of [
    'better-sqlite3',
    'h3',
    'listhen',
    'undici',
    'inquirer',
    'string-width',
    'markdown-it',
    'highlight.js',
    'conf',
    'ky',
    'zod',
    '@modelcontextprotocol',
    'onnxruntime',
    'keytar',
    'jose',
    'bcrypt',
  ]) {
    assert.not.match(stderr, new RegExp(`node_modules/(?:@github/)?${library}/`), `${library} is loaded`)
  }
  assert.not.match(stderr, /src\/(?:app|settings|operations|plugins|chat\/router|storage)[/.]/)
  assert.not.match(stderr, /src\/cli\/\w+\/actions\.[jt]s/, 'an action is loaded')
  // A module for each of 26 command groups, and 25 for reading the arguments and printing.
  assert.ok(modules.length > 20 && modules.length <= 51, modules.join(' '))
})

test.whole('a command loads the store that it asks, and no other', async () => {
  using made = openHome()
  const words = ['setup', '--username', 'ada', '--password-stdin']
  assert.is((await made.aichat(words, { input: 'a-Long-password-1\n' })).code, 0)
  const whoami = ([program, ...args]: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program!, [...args, 'whoami'], {
      env: { PATH: process.env['PATH'], HOME: made.folder, AICHAT_HOME: made.folder, NODE_DEBUG: 'esm' },
      encoding: 'utf8',
      // Each loaded module takes some kilobytes of it.
      maxBuffer: 2 ** 24,
    })
    assert.equal([status, stdout], [0, 'ada (admin)\n'])
    return stderr
  }
  const stderr = whoami(unbundled)
  const stores =
    /src\/storage\/(?:sqlite|stores)\/(accounts|personas|memories|conversations|adaptations|persona-archive|backups)\.[jt]s/g
  assert.equal([...new Set([...stderr.matchAll(stores)].map(([, name]) => name))], ['accounts'])
  assert.not.match(stderr, /src\/personas\/(?:adaptation|package)\//)
  const files = new Set([...whoami(aichatCommand).matchAll(/\/dist\/bundle\/([\w.-]+)\.js\b/g)].map(([, name]) => name))
  if (unbundled !== aichatCommand) assert.ok(files.size > 1 && files.size <= 37, `${files.size} files of the bundle`)
})

test.whole(
  'each of the ten most used commands, and each Tab, loads the packages that it needs, and so much of the bundle',
  async () => {
    const key = { CUSTOM_API_KEY: 'sk-canary-0123456789' }
    await using provider = await openStandIn((_request, response) => json(response, 200, completion('Read')))
    using made = openHome(key)
    await furnish(made, provider.url)
    const environment = {
      ...{ PATH: process.env['PATH'], HOME: made.folder, AICHAT_HOME: made.folder, OLLAMA_HOST: '127.0.0.1:9' },
      ...key,
    }
    // The first tier starts the first and the last of them.
    for (const { words, packages, files, kibibytes } of sampleOf(mostUsed)) {
      const name = words.join(' ')
      const loaded = await loadedBy(aichatCommand, words, environment)
      assert.is(loaded.code, 0, name)
      // From the sources, zod and others are packages too.
      if (unbundled === aichatCommand) continue
      assert.equal(loaded.packages, packages, name)
      const { length } = loaded.files
      assert.ok(length > 1 && length <= files, `${name}: ${length} files of the bundle`)
      assert.ok(loaded.bytes <= kibibytes * 1024, `${name}: ${Math.ceil(loaded.bytes / 1024)} KiB of the bundle`)
      // What heavy libraries are in the bundle is in files that their users alone import.
      const held = loaded.files.map((path) => readFileSync(path, 'utf8')).join('\n')
      for (const library of ['h3', 'prom-client', 'listhen', 'inquirer', 'conf', 'ky', 'jose', 'iconv-lite'])
        assert.not.match(held, `// node_modules/${library}/`, `${name} loads ${library}`)
    }
    for (const { typed, packages, kibibytes } of sampleOf(behindTab)) {
      const loaded = await loadedBy(aichatCommand, ['--timeout', '2s', '__complete', '--', ...typed], environment)
      assert.is(loaded.code, 0, typed.join(' '))
      if (unbundled === aichatCommand) continue
      assert.equal(
        [loaded.packages, loaded.bytes <= kibibytes * 1024],
        [packages, true],
        `${typed.join(' ')}: ${loaded.bytes}`,
      )
    }
  },
)

test('the tree for a command of the program has that command, and the whole tree the same one', () => {
  const cli = { io: { columns: 80, environment: {} }, bind() {} } as unknown as Cli
  const whole = buildProgram(cli)
  for (const command of whole.commands) {
    const alone = buildProgram(cli, command.name()).commands.find((each) => each.name() === command.name())
    assert.is(alone?.helpInformation(), command.helpInformation())
  }
  assert.is(buildProgram(cli, 'nothing').commands.length, whole.commands.length)
  assert.is(buildProgram(cli, 'plugin').commands.length, 1)
})

test('nothing to do prints the help and exits 0', async () => {
  const { code, stdout, stderr } = await home.aichat([])
  assert.is(code, 0)
  assert.match(stdout, /^Usage: aichat/)
  assert.is(stderr, '')
})

test('an unknown command is a usage error with a suggestion', async () => {
  const { code, stdout, stderr } = await home.aichat(['plugn'])
  assert.is(code, 64)
  assert.is(stdout, '')
  assert.match(stderr, /Did you mean plugin\?/)
})

test('an unknown flag is a usage error', async () => {
  assert.is((await home.aichat(['plugin', 'list', '--nope'])).code, 64)
})

test('global flags are read before and after the command', async () => {
  const before = await home.aichat(['--json', 'plugin', 'current'])
  const after = await home.aichat(['plugin', 'current', '--json'])
  assert.is(before.stdout, 'null\n')
  assert.is(after.stdout, 'null\n')
})

test('text with white space is a prompt, a single unknown word is not', async () => {
  const prompt = await home.aichat(['what is a monad?'])
  assert.is(prompt.code, 69)
  assert.match(prompt.stderr, /no model runs on this machine/)
  assert.is((await home.aichat(['monad'])).code, 64)
  assert.is((await home.aichat(['--', 'monad'])).code, 69)
  assert.is((await home.aichat(['-m', 'x', 'monad'])).code, 69)
})

test('an error with --json is one line of JSON on stderr, stdout stays empty', async () => {
  const { code, stdout, stderr } = await home.aichat(['plugin', 'show', 'nope', '--json'])
  assert.is(code, 67)
  assert.is(stdout, '')
  const error = JSON.parse(stderr) as { error: string; details: string[]; code: string; exit: number }
  assert.match(error.error, /Plugin "nope" not found/)
  assert.equal([error.code, error.exit], ['not_found', 67])
  assert.ok(Array.isArray(error.details))
})

test('wrong usage names the error and the help to read, in one line with --json before or after it', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['plugn'], /^aichat: Unknown command 'plugn'\n {2}Did you mean plugin\?\n {2}To ask .* aichat chat "plugn"\n/],
    [['What', 'is', 'a', '"monad"?', '--quiet'], /To ask it as a question: aichat chat "What is a \\"monad\\"\?"\n/],
    [['plugin'], /^aichat: aichat plugin needs a command: list, show, .*\n {2}See: aichat help plugin\n$/],
    [['plugin', 'show'], /^aichat: Missing required argument 'id'\n {2}See: aichat help plugin show\n$/],
    [['plugin', 'list', '--type', 'x'], /Invalid --type "x": use completion, chat, embedding or tts\n/],
    [['mcp', 'add', 'x', '--timeout-seconds', '0'], /argument '0' is invalid\. Use a whole number/],
    [['status', '--timeout', 'soon'], /^aichat: Invalid duration "soon"/],
    [
      ['help', 'plugn'],
      /Command or topic "plugn" not found; did you mean plugin\?\n {2}Commands: chat, template, plugin, .*\n {2}Topics: /,
    ],
  ]
  for (const [words, expected] of cases) {
    const plain = await home.aichat(words)
    assert.equal([plain.code, plain.stdout], [64, ''], words.join(' '))
    assert.match(plain.stderr, expected)
    const json = await home.aichat([...words, '--json'])
    assert.is(json.code, 64)
    assert.is(JSON.parse(json.stderr).exit, 64)
  }
})

test('a timeout longer than a timer can be is the longest one', async () => {
  const { code, stderr } = await home.aichat(['config', 'path', '--timeout', '99999999h'])
  assert.equal([code, stderr], [0, ''])
  assert.is((await home.aichat(['plugin', 'current', '--timeout', '99999999h'])).code, 0)
})

test('colour is where a flag, the environment or the terminal wants it, in this order', async () => {
  const coloured = async (words: readonly string[], environment: Record<string, string>) =>
    (await home.aichat(['plugin', 'list', ...words], { environment })).stdout.split('\n')[0]!.startsWith('\x1b[1m')
  assert.not(await coloured([], {}))
  assert.ok(await coloured(['--color', 'always'], { NO_COLOR: '1' }))
  assert.not(await coloured([], { NO_COLOR: '1', FORCE_COLOR: '1' }))
  assert.ok(await coloured([], { FORCE_COLOR: '1' }))
  assert.not(await coloured(['--color', 'never'], { FORCE_COLOR: '1' }))
})

test('a data folder that may not be used is named, and is no bug', async () => {
  const { code, stderr } = await home.aichat(['plugin', 'activate', 'openai'], {
    environment: { AICHAT_HOME: '/dev/null/aichat' },
  })
  assert.is(code, 73, stderr)
  assert.match(stderr, /\/dev\/null\/aichat/)
  assert.not.match(stderr, /bug|Internal/)
})

test.whole('a reader that goes away is no error', () => {
  const [program, ...args] = aichatCommand
  const command = [program, ...args].map((word) => `'${word}'`).join(' ')
  const { status, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${command} models list | head -n 1`], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
    encoding: 'utf8',
  })
  assert.is(status, 0, stderr)
  assert.is(stderr, '')
})

test.whole('a full disk on stdout is an I/O error', () => {
  const [program, ...args] = aichatCommand
  const command = [program, ...args].map((word) => `'${word}'`).join(' ')
  for (const words of ['models list', '--help']) {
    const { status, stderr } = spawnSync('bash', ['-c', `${command} ${words} > /dev/full`], {
      env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
      encoding: 'utf8',
    })
    assert.equal([status, stderr], [74, 'aichat: The output could not be written\n'], words)
  }
})

test.whole('verifying a package loads no schemas, no database and nothing that asks or answers', () => {
  const { stderr, modules } = traced('persona', 'verify', `${import.meta.dirname}/../../package.json`)
  assert.match(stderr, /src\/personas\/package\/verify-file/)
  for (const library of ['zod', 'better-sqlite3', 'h3', 'undici', 'inquirer', 'markdown-it'])
    assert.not.ok(stderr.includes(`node_modules/${library}/`), library)
  for (const room of ['operations', 'server', 'storage', 'chat', 'plugins'])
    assert.equal(
      modules.filter((path) => path?.startsWith(`src/${room}/`)),
      [],
    )
})

test('an error names a settings file that is not JSON', async () => {
  const other = openFastHome()
  const { writeFileSync } = await import('node:fs')
  writeFileSync(`${other.folder}/config.json`, '{ not json')
  const { code, stderr } = await other.aichat(['plugin', 'list'])
  assert.is(code, 78)
  assert.match(stderr, /config\.json cannot be read/)
  other.remove()
})

test.run()
