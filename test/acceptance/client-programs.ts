import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A program that works with files through a model, and the way to point it here. */
export interface ClientProgram {
  readonly name: string
  /** Whether the locked packages of the tests hold it. */
  readonly locked: boolean
  /** The call of its shell tool with a command. */
  readonly shell: (command: string) => { readonly name: string; readonly input: object }
  /** Writes its settings into `home`, and gives back its arguments and variables for one task. */
  readonly setUp: (home: string, url: string) => { readonly args: readonly string[]; readonly environment: Variables }
}

type Variables = Readonly<Record<string, string>>

export type Finished = { readonly code: number | null; readonly output: string }

const model = 'custom-model'
const task = 'Make the file made.txt.'
/** Milliseconds for one task; the slowest needs 25 s where its look-ups of other hosts have to fail first. */
const limitMs = 90_000

/** Codex speaks the Responses API. */
const codex: ClientProgram = {
  name: 'codex',
  locked: true,
  shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
  setUp(home, url) {
    mkdirSync(join(home, '.codex'))
    const provider = `name = "aichat"\nbase_url = "${url}/v1"\nenv_key = "AICHAT_KEY"\nwire_api = "responses"\n`
    const chosen = `model = "${model}"\nmodel_provider = "aichat"\n`
    writeFileSync(join(home, '.codex', 'config.toml'), `${chosen}[model_providers.aichat]\n${provider}`)
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task]
    return { args, environment: { AICHAT_KEY: 'ours' } }
  },
}

/** opencode speaks chat completions or the Responses API, by the package that it is told. */
function opencode(name: string, npm: string): ClientProgram {
  return {
    name,
    locked: true,
    shell: (command) => ({ name: 'bash', input: { command, description: 'Runs a command' } }),
    setUp(home, url) {
      const options = { baseURL: `${url}/v1`, apiKey: '{env:AICHAT_KEY}' }
      const models = { [model]: { limit: { context: 100_000, output: 1_000 } } }
      const settings = {
        ...{ autoupdate: false, share: 'disabled', permission: 'allow', small_model: `aichat/${model}` },
        provider: { aichat: { npm, name: 'aichat', options, models } },
      }
      mkdirSync(join(home, '.config', 'opencode'), { recursive: true })
      writeFileSync(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(settings))
      const off = ['AUTOUPDATE', 'MODELS_FETCH', 'DEFAULT_PLUGINS', 'LSP_DOWNLOAD']
      const switches = Object.fromEntries(off.map((part) => [`OPENCODE_DISABLE_${part}`, '1']))
      return { args: ['run', '--model', `aichat/${model}`, task], environment: { AICHAT_KEY: 'ours', ...switches } }
    },
  }
}

/** Claude Code speaks Anthropic's API; it is used where it is installed. */
const claude: ClientProgram = {
  name: 'claude',
  locked: false,
  shell: (command) => ({ name: 'Bash', input: { command, description: 'Runs a command' } }),
  setUp: (_home, url) => ({
    args: ['-p', task, '--allowedTools', 'Bash'],
    environment: {
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: 'ours', ANTHROPIC_MODEL: model },
      ...{ ANTHROPIC_DEFAULT_HAIKU_MODEL: model, DISABLE_AUTOUPDATER: '1' },
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }),
}

export const clientPrograms: readonly ClientProgram[] = [
  codex,
  opencode('opencode', '@ai-sdk/openai-compatible'),
  opencode('opencode, Responses', '@ai-sdk/openai'),
  claude,
]

/**
 * The path of a program: with `AICHAT_TEST_CLIENTS` that of its locked packages, which are installed first where they are not
 * yet; else the one in PATH. Undefined where there is none.
 */
export async function pathOf({ name, locked }: ClientProgram): Promise<string | undefined> {
  const file = name.replace(/,.*/, '')
  if (locked && process.env['AICHAT_TEST_CLIENTS']) return join(await install(), 'node_modules', '.bin', file)
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path))
}

/** Runs a program's task in `home/work`, with no variable of this process and no way to other hosts. */
export async function runTask(program: ClientProgram, path: string, home: string, url: string): Promise<Finished> {
  const { args, environment } = program.setUp(home, url)
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  const child = spawn(path, args, {
    cwd,
    // A group of its own, so that its children end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, TMPDIR: home, ...closed, ...environment },
  })
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended with all that it started.
    }
  }
  const timer = setTimeout(end, limitMs)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  clearTimeout(timer)
  end()
  return { code, output }
}

/** Nothing listens on the discard port: a request to another host fails at once. */
const closed: Variables = { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' }

/**
 * Installs the locked packages into the user's cache, once for each lock file; resolves with their folder. `npm ci` would want
 * the packages of every platform in the lock file.
 */
async function install(): Promise<string> {
  const source = fileURLToPath(new URL('./test/fixtures/programs/', import.meta.resolve('#package')))
  const lock = createHash('sha256')
    .update(readFileSync(join(source, 'package-lock.json')))
    .digest('hex')
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'aichat-tests')
  const folder = join(cache, `programs-${lock.slice(0, 12)}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const made = mkdtempSync(join(cache, 'making-'))
  try {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(source, file), join(made, file))
    const npm = spawn('npm', ['install', '--no-audit', '--no-fund'], {
      cwd: made,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const code = await new Promise((resolve, reject) => npm.on('close', resolve).on('error', reject))
    if (code !== 0) throw new Error(`npm install of ${source} ended with ${code}`)
    // Another file may have installed them meanwhile.
    if (!existsSync(folder)) renameSync(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return folder
}
