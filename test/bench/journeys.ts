import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { completionEvents, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'
import { chainsOf } from './journey-parts/chains.ts'
import { openCounts, type ScriptCounts } from './journey-parts/counts.ts'
import { print } from './parts/figures.ts'

/** A request that is driven from end to end. `run` is called twice: the first time loads modules and fills caches. */
interface Journey {
  readonly name: string
  /** Files on the path by a reader's count before the present structure (July 2026). */
  readonly before: number
  /** The beginning of the file with the effect that the journey is for. */
  readonly end: string
  readonly run: (turn: number) => Promise<void>
  /** A call without the journey's effect: functions that run in it too are left out of the journey. */
  readonly idle: () => Promise<void>
}

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const built = new URL(import.meta.url.endsWith('.ts') ? './' : './dist/', import.meta.resolve('#package')).href

/** The order of the rooms on a path. */
const order = ['src/cli', 'src/server', 'src/operations', 'src/app', 'src/accounts', 'src/personas', 'src/plugins']
const rooms = [...order, 'src/chat', 'speech', 'src/runners', 'src/http-client', 'src/storage']

/**
 * Prints for each of six journeys the files in which a function ran because of it, and its main path: the longest chain of
 * calls that wait for each other, from the face to the effect that the journey is for (a file written, rows read, a request
 * sent, a child process asked). Functions that run at the loading of modules or in an idle call are left out; those of child
 * processes are listed apart. The former counts were made by hand, by reading, so they compare with the main path only.
 */
export async function bench(): Promise<void> {
  // Before the product is loaded, so that every function is counted.
  await using counts = closing(openCounts())
  await using provider = await openStandIn((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['Hello', ' there.']).join(''))
  })
  const folder = temporaryFolder()
  await using opened = closing(await openJourneys(provider, folder))
  for (const journey of opened.journeys) await measure(journey, counts, folder)
}

async function measure(
  { name, before, end, run, idle }: Journey,
  counts: ReturnType<typeof openCounts>,
  folder: string,
) {
  await idle()
  await run(1)
  counts.take()
  await idle()
  const resting = functionsIn(counts.take())
  const children = mkdtempSync(join(folder, 'children-'))
  process.env['NODE_V8_COVERAGE'] = children
  const chains = await chainsOf(() => run(2), fileOf)
  delete process.env['NODE_V8_COVERAGE']
  const ran = [...functionsIn(counts.take())].filter((found) => !resting.has(found))
  const files = sorted(new Set(ran.map((found) => found.slice(0, found.indexOf(' ')))))
  const inChildren = sorted(new Set(readdirSync(children).flatMap((file) => filesOfChild(join(children, file)))))
  const main = mainPath(chains, end)
  const visited = [...new Set(main.filter((file, at) => main.indexOf(file) !== at))]
  const own = new Set(main)
  print(`\n${name}: ${own.size} files on the main path (${before} by hand before), ${files.length} in all`)
  print(`  main path: ${main.join(' → ') || 'none found'}`)
  print(`  visited twice: ${visited.join(', ') || 'none'}`)
  print(`  beside it: ${files.filter((file) => !own.has(file)).join(', ')}`)
  if (inChildren.length > 0)
    print(`  in child processes, with their start: ${inChildren.length}: ${inChildren.join(', ')}`)
}

/** The longest chain to this end; where a callback cut it, the chain to that place comes before it. */
function mainPath(chains: readonly string[][], end: string): readonly string[] {
  const isWhole = ([first = '']: readonly string[]) => /^src\/(?:cli|server)\//.test(first)
  const longest = (found: readonly string[][]) => [...found].sort((a, b) => new Set(b).size - new Set(a).size)[0] ?? []
  const whole = chains
    .filter((chain) => chain.at(-1)!.startsWith(end))
    .map((chain) => {
      if (isWhole(chain)) return chain
      const before = longest(chains.filter((other) => isWhole(other) && other.at(-1) === chain[0]))
      return [...before.slice(0, -1), ...chain]
    })
  return longest(whole)
}

async function openJourneys(provider: StandIn, folder: string) {
  const [{ openFastHome }, { openDaemon, goodPassword }, { pluginAt }] = await Promise.all([
    import('../helpers/program/terminal.ts'),
    import('../helpers/program/daemon.ts'),
    import('../helpers/program/installation.ts'),
  ])
  const environment = { CUSTOM_API_KEY: 'sk-of-the-bench' }
  const home = openFastHome(environment)
  const daemon = await openDaemon(environment)
  const { token } = await daemon.register('ada')
  const { app } = daemon.installation
  const plugin = pluginAt(provider.url)
  await app.plugins.install(plugin)
  await app.plugins.activate('custom')
  const aichat = async (words: readonly string[], input?: string) => {
    const ran = await home.aichat(words, input === undefined ? {} : { input })
    if (ran.code !== 0) throw new Error(`aichat ${words.join(' ')}: ${ran.stderr}`)
    return ran.stdout.trim()
  }
  await aichat(['plugin', 'install', '-', '--activate'], JSON.stringify(plugin))
  await aichat(['persona', 'create', '--name', 'Ada', '-m', 'custom:custom-model'])
  for (const text of ['My cat is afraid of thunder', 'I live in Berlin', 'My sister plays the cello'])
    await aichat(['persona', 'memory', 'add', 'Ada', text])
  const file = join(folder, 'ada.json')
  await aichat(['persona', 'export', 'Ada', '-o', file])
  const wav = join(folder, 'hello.wav')

  const idleCommand = () => aichat(['--version']).then(() => {})
  const idleRequest = () => send('GET', '/health')
  const journeys: readonly Journey[] = [
    {
      name: 'install a plugin (command line)',
      before: 12,
      end: 'src/storage/files/',
      idle: idleCommand,
      run: async (turn) => {
        const document = { ...plugin, id: `custom-${turn}` }
        await aichat(['plugin', 'install', '-'], JSON.stringify(document))
      },
    },
    {
      name: 'a streamed chat (command line)',
      before: 17,
      end: 'src/http-client/',
      idle: idleCommand,
      run: () => aichat(['chat', 'Hello']).then(() => {}),
    },
    {
      name: 'a streamed chat (HTTP, with a token)',
      before: 16,
      end: 'src/http-client/',
      idle: idleRequest,
      run: () => send('POST', '/api/chat', { messages: [{ role: 'user', content: 'Hello' }], stream: true }, token),
    },
    {
      name: 'memory search (command line)',
      before: 18,
      end: 'src/storage/sqlite/memory-search',
      idle: idleCommand,
      run: (turn) => aichat(['persona', 'memory', 'search', 'Ada', `What is my cat afraid of? ${turn}`]).then(() => {}),
    },
    {
      name: 'text to a WAV file (command line)',
      before: 16,
      end: 'src/process/child',
      idle: idleCommand,
      run: () => aichat(['tts', 'Hello. I can speak.', '-o', wav, '--force']).then(() => {}),
    },
    {
      name: 'import of a package (command line)',
      before: 22,
      end: 'src/storage/sqlite/persona-',
      idle: idleCommand,
      run: () => aichat(['persona', 'import', file]).then(() => {}),
    },
    {
      name: 'login (HTTP)',
      before: 14,
      end: 'src/storage/stores/accounts',
      idle: idleRequest,
      run: () => send('POST', '/api/auth/login', { username: 'ada', password: goodPassword }),
    },
  ]
  return {
    journeys,
    close: async () => {
      await daemon.close()
      home.remove()
    },
  }

  async function send(method: string, path: string, body?: object, token?: string): Promise<void> {
    const response = await fetch(`${daemon.url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  }
}

/** `src/cli/main.ts 120` for each function of the product that ran, but for the bodies of modules. */
function functionsIn(scripts: readonly ScriptCounts[]): Set<string> {
  return new Set(
    scripts.flatMap(({ url, functions }) => {
      const file = fileOf(url)
      if (file === undefined) return []
      // The first function of a script is the module itself.
      return functions
        .slice(1)
        .flatMap(({ ranges: [range] }) => (range!.count > 0 ? [`${file} ${range!.startOffset}`] : []))
    }),
  )
}

function filesOfChild(report: string): readonly string[] {
  const { result } = JSON.parse(readFileSync(report, 'utf8')) as { readonly result: readonly ScriptCounts[] }
  return [...functionsIn(result)].map((found) => found.slice(0, found.indexOf(' ')))
}

/** The source of a loaded module; undefined for one that is not of the product. */
function fileOf(url: string): string | undefined {
  if (!url.startsWith(built)) return undefined
  const file = relative(root, fileURLToPath(new URL(url.slice(built.length), `file://${root}/`))).replace(
    /\.js$/,
    '.ts',
  )
  return /^(?:src|speech)\//.test(file) ? file : undefined
}

/** In the order of a path through the rooms, the tools last. */
function sorted(files: ReadonlySet<string>): readonly string[] {
  const place = (file: string) => {
    const at = rooms.findIndex((room) => file.startsWith(`${room}/`))
    return at === -1 ? rooms.length : at
  }
  return [...files].sort((a, b) => place(a) - place(b) || a.localeCompare(b))
}
