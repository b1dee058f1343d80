import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { performance } from 'node:perf_hooks'
import { furnish, launcherOf, loadedBy, mostUsed } from '../cli/most-used.ts'
import { closing } from '../helpers/disposal.ts'
import { aichatCommand, openHome } from '../helpers/program/command.ts'
import { startPart } from './gateway-parts/contestants.ts'
import { median, quantile } from './parts/figures.ts'

const rounds = Number(process.env['AICHAT_BENCH_ROUNDS'] ?? 10)
/** Commands of one measurement of processor time, which a shell tells in hundredths of a second. */
const repeats = 5
const sessions = 1000

/**
 * The cost of the most used commands, and then that of starting a command, compared with `node -e 0`: of the help, and of
 * the names behind a Tab among 1,000 saved conversations and 100 personas. The least of ten interleaved rounds counts, since
 * the others include other work of the machine. The aims: `--help` at most 35 ms of processor time over Node's own, names
 * within 150 ms.
 */
export async function bench(): Promise<void> {
  await commands()
  await tabs()
}

/**
 * The most used commands over bare node: processor time, each run paired with one of `node -e 0` of the same round, and what is
 * loaded. AICHAT_BENCH_BEFORE names the folder of an older build, which takes its turns in the same rounds.
 */
async function commands(): Promise<void> {
  const key = { CUSTOM_API_KEY: 'sk-canary-0123456789' }
  const home = openHome(key)
  const children: ChildProcess[] = []
  try {
    await furnish(home, (await startPart(children, 'upstream')).url)
    const environment = {
      ...{ PATH: process.env['PATH'], HOME: home.folder, AICHAT_HOME: home.folder, OLLAMA_HOST: '127.0.0.1:9' },
      ...key,
    }
    const older = process.env['AICHAT_BENCH_BEFORE']
    const builds = [...(older ? [['before', launcherOf(older)] as const] : []), ['now', aichatCommand] as const]
    const lines = [['--version'], ['--help'], ['chat', '--help'], ...mostUsed.map(({ words }) => words)].flatMap(
      (words) => builds.map(([build, command]) => ({ words, build, command, over: [] as number[] })),
    )
    for (let round = 0; round < rounds; round++) {
      const bare = cpuOf([process.execPath, '-e', '0'], environment)
      for (const { command, words, over } of lines) over.push(cpuOf([...command, ...words], environment, 2) - bare)
    }
    process.stdout.write(
      `processor time over node's own, milliseconds, ${rounds} rounds (load of the machine ${loadavg()[0]!.toFixed(1)})\n`,
    )
    process.stdout.write(`  ${''.padEnd(36)}        median   quarters   files     KiB  packages\n`)
    for (const { words, build, command, over } of lines) {
      const { files, bytes, packages } = await loadedBy(command, words, environment)
      const quarters = `${quantile(over, 0.25).toFixed(0)}–${quantile(over, 0.75).toFixed(0)}`
      process.stdout.write(
        `  ${words.join(' ').padEnd(36)} ${build.padEnd(7)}${median(over).toFixed(0).padStart(6)} ${quarters.padStart(10)} ${String(files.length).padStart(7)} ${(bytes / 1024).toFixed(0).padStart(7)}  ${packages.join(' ')}\n`,
      )
    }
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)))
    home.remove()
  }
}

async function tabs(): Promise<void> {
  using home = openHome()
  await fill(home.folder)
  const environment = { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder }
  const tab = (...typed: string[]) => [...aichatCommand, '--timeout', '1s', '__complete', '--', ...typed, '']
  const lines: readonly (readonly [name: string, words: readonly string[]])[] = [
    ['node -e 0', [process.execPath, '-e', '0']],
    ['aichat --version', [...aichatCommand, '--version']],
    ['aichat --help', [...aichatCommand, '--help']],
    ['aichat chat --help', [...aichatCommand, 'chat', '--help']],
    ['Tab: commands', tab()],
    ['Tab: models', tab('chat', '-m')],
    ['Tab: plugins', tab('plugin', 'show')],
    ['Tab: personas', tab('persona', 'show')],
    ['Tab: sessions', tab('session', 'show')],
    ['Tab: settings', tab('config', 'get')],
    ['Tab: topics', tab('help')],
    ['Tab: languages', tab('tts', '--language')],
    ['Tab: memories', tab('persona', 'memory', 'show', 'Persona 7')],
  ]
  const cpu = lines.map(() => Number.POSITIVE_INFINITY)
  const wall = lines.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++)
    for (const [at, [, words]] of lines.entries()) {
      cpu[at] = Math.min(cpu[at]!, cpuOf(words, environment))
      wall[at] = Math.min(wall[at]!, wallOf(words, environment))
    }
  process.stdout.write(`milliseconds, the least of ${rounds} rounds\n`)
  for (const [at, [name]] of lines.entries()) {
    const over = at === 0 ? '' : ` (+${(cpu[at]! - cpu[0]!).toFixed(0)})`
    process.stdout.write(
      `  ${name.padEnd(20)} ${cpu[at]!.toFixed(0).padStart(4)} of processor${over.padEnd(7)} ${wall[at]!.toFixed(0).padStart(4)} in all\n`,
    )
  }
  const help = cpu[2]! - cpu[0]!
  const slowest = Math.max(...wall.slice(4))
  process.stdout.write(
    `  aims: --help within 35 ms over Node: ${help <= 35 ? 'met' : 'missed'}; names within 150 ms: ${slowest <= 150 ? 'met' : 'missed'}\n`,
  )
}

/** Milliseconds of processor time of one command, its start included. */
function cpuOf(words: readonly string[], env: NodeJS.ProcessEnv, times = repeats): number {
  const script = `for ((i = 0; i < ${times}; i++)); do "$@" > /dev/null || exit 1; done; times`
  const { status, stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const children = stdout.trim().split('\n')[1] ?? ''
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  )
  if (status !== 0 || seconds.length !== 2) throw new Error(`${words.join(' ')} cannot be measured`)
  return ((seconds[0]! + seconds[1]!) * 1000) / times
}

function wallOf([program, ...args]: readonly string[], env: NodeJS.ProcessEnv): number {
  const begun = performance.now()
  spawnSync(program!, args, { env })
  return performance.now() - begun
}

async function fill(folder: string): Promise<void> {
  const { openApp } = await import('../../src/app/compose.ts')
  const { readSettings } = await import('../../src/settings/read-settings.ts')
  await using app = closing(
    await openApp(readSettings({ AICHAT_HOME: folder, HOME: folder, OLLAMA_HOST: '127.0.0.1:9' })),
  )
  const { personas, conversations, memories } = await app.personas()
  for (let number = 0; number < 100; number++)
    await personas.create('local', { name: `Persona ${number}`, model: 'openai:gpt-4.1-mini', parameters: {} })
  for (let number = 0; number < sessions; number++) await conversations.create('local', { name: `Talk ${number}` })
  const persona = await personas.get('local', 'Persona 7')
  await memories.store(
    persona,
    Array.from({ length: 500 }, (_, number) => ({
      content: `The number ${number} is known`,
      importance_score: 0.5,
      metadata: {},
    })),
  )
}
