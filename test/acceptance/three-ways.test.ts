// With --all only: a whole sample.
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { cheapHashes } from '../helpers/cheap-bcrypt.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openHome, type RunOptions } from '../helpers/program/command.ts'
import { openDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Ran, runMain } from '../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('one command, three ways')

interface Step {
  readonly words: readonly string[]
  readonly input?: string
  readonly code: number
  /** Printed for people, and streamed where it can be. */
  readonly text?: true
}

const step = (code: number, words: readonly string[], input?: string): Step => ({
  code,
  words,
  ...(input !== undefined && { input }),
})

const textStep = (code: number, words: readonly string[]): Step => ({ code, words, text: true })

/** The same commands in the same order in each world; each says its exit code. */
function table(files: { plugin: string; changed: string; invalid: string }): readonly Step[] {
  const from = '--password-stdin'
  return [
    step(64, ['setup', '--account']),
    step(65, ['setup', '--username', 'ada', from], 'weak\n'),
    step(0, ['setup', '--username', 'ada', '--email', 'ada@example.org', from], 'Passw0rd\n'),
    step(1, ['setup', '--username', 'eve', from], 'Passw0rd\n'),
    step(0, ['whoami']),
    step(0, ['register', '--username', 'carol', from], 'Passw0rd\n'),
    step(65, ['register', '--username', 'CAROL', from], 'Passw0rd\n'),
    step(0, ['users', 'create', 'bob', '--email', 'bob@example.org', from], 'Passw0rd\r\n'),
    step(65, ['users', 'create', 'bob', from], 'Passw0rd\n'),
    step(65, ['users', 'create', 'b@d', from], 'weak\n'),
    step(64, ['users', 'create', 'dan', '--role', 'root', from], 'Passw0rd\n'),
    step(64, ['users', 'create', 'dan']),
    step(0, ['users', 'list']),
    step(0, ['users', 'list', '--limit', '1', '--offset', '1']),
    step(0, ['users', 'list', '--search', 'bob@']),
    step(65, ['users', 'list', '--limit', '0']),
    step(0, ['users', 'show', 'bob']),
    step(67, ['users', 'show', 'nobody']),
    step(67, ['users', 'show', '00000000-0000-4000-8000-000000000000']),
    step(0, ['users', 'update', 'bob', '--email', '', '--username', 'Bob']),
    step(65, ['users', 'update', 'bob', '--username', 'ada']),
    step(64, ['users', 'update', 'bob']),
    step(0, ['users', 'update', 'bob', '--role', 'admin']),
    step(0, ['users', 'stats']),
    step(0, ['users', 'reset-password', 'bob']),
    step(0, ['users', 'reset-password', 'carol', from], 'Passw0rd2\n'),
    step(65, ['users', 'reset-password', 'carol', from], 'weak\n'),
    step(67, ['users', 'reset-password', 'nobody']),
    step(65, ['passwd', from], 'Wr0ngpassword\nPassw0rd3\n'),
    step(65, ['passwd', from], 'Passw0rd\nweak\n'),
    step(64, ['passwd', from], 'Passw0rd\n'),
    step(0, ['passwd', from], 'Passw0rd\nPassw0rd3\n'),
    step(0, ['plugin', 'install', files.plugin]),
    step(65, ['plugin', 'install', files.plugin]),
    step(65, ['plugin', 'install', files.invalid]),
    step(66, ['plugin', 'install', '/nowhere/x.json']),
    step(0, ['plugin', 'install', '--force', '--activate', '-'], 'from the file'),
    step(0, ['plugin', 'list']),
    step(0, ['plugin', 'show', 'custom']),
    step(67, ['plugin', 'show', 'nope']),
    step(0, ['plugin', 'current']),
    step(0, ['plugin', 'update', 'custom', files.changed]),
    step(0, ['plugin', 'export', 'custom']),
    step(0, ['plugin', 'status']),
    step(0, ['models', 'list', 'custom']),
    step(0, ['chat', '--dry-run', 'Hello there']),
    step(0, ['chat', 'Hello there']),
    textStep(0, ['chat', 'Hello there']),
    textStep(69, ['chat', '--no-fallback', '-m', 'broken', 'Hello']),
    textStep(76, ['chat', '--no-fallback', '-m', 'breaking', 'Hello']),
    textStep(0, ['plugin', 'list']),
    step(0, ['chat', '--no-stream', 'Hello there']),
    step(0, ['chat', '-m', 'custom-model', '--temperature', '0.5'], 'piped in'),
    step(65, ['chat', '--temperature', '9', 'Hello']),
    step(64, ['chat']),
    step(69, ['chat', '--no-fallback', '-m', 'broken', 'Hello']),
    step(69, ['chat', '--no-fallback', '-S', '-m', 'broken', 'Hello']),
    step(0, ['tts', 'voices']),
    step(0, ['tts', '--voice', 'alba', 'Hello.']),
    step(67, ['tts', '--voice', 'nobody', 'Hello.']),
    step(0, ['plugin', 'deactivate']),
    step(0, ['plugin', 'remove', 'custom', '--yes']),
    step(67, ['plugin', 'remove', 'custom', '--yes']),
    step(64, ['users', 'remove', 'carol']),
    step(0, ['users', 'remove', 'carol', 'Bob', '--yes']),
    step(65, ['users', 'remove', 'ada', '--yes']),
    step(64, ['plugn', 'list']),
  ]
}

test('in process, against a server, and by the program: the same JSON and the same exit codes', async () => {
  const provider = await openStandIn((request, response) => {
    const { model, stream } = JSON.parse(request.body) as { model: string; stream?: boolean }
    if (model === 'broken') return json(response, 500, { error: { message: 'it broke' } })
    if (!stream) return json(response, 200, completion('Hello yourself', model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = completionEvents(['Hello ', 'yourself'], model)
    response.end(events.slice(0, model === 'breaking' ? 2 : events.length).join(''))
  })
  const folder = temporaryFolder()
  const write = (name: string, value: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(value))
    return join(folder, name)
  }
  const document = pluginAt(provider.url, { model_map: ['custom-model', 'broken', 'breaking'], retry: { attempts: 1 } })
  const steps = table({
    plugin: write('plugin.json', document),
    changed: write('changed.json', { ...document, name: 'Changed' }),
    invalid: write('invalid.json', { id: 'no/id', endpoint: 7 }),
  })
  const worlds = [await inProcess(), await remote(), await program()]
  try {
    for (const { code, words, input, text } of steps) {
      const given = input === 'from the file' ? JSON.stringify(document) : input
      const what = words.join(' ')
      const shown = []
      for (const world of worlds) {
        const ran = await world.run(text ? words : [...words, '--json'], given, code)
        assert.is(ran.code, code, `${world.name}: ${what}\n${ran.stderr}`)
        shown.push(seen(ran, world.names, text === true))
      }
      for (const [index, world] of worlds.entries())
        assert.equal(shown[index], shown[0], `${what}: ${world.name} differs from ${worlds[0]!.name}`)
    }
  } finally {
    for (const world of worlds) await world.close()
    await provider.close()
  }
})

test.run()

interface World {
  readonly name: string
  readonly names: Map<string, string>
  run(
    words: readonly string[],
    input: string | undefined,
    code: number,
  ): Promise<Omit<Ran, 'code'> & { readonly code: number | null }>
  close(): void | Promise<void>
}

const common = { CUSTOM_API_KEY: 'sk-test-123456', OLLAMA_HOST: '127.0.0.1:9' }

async function inProcess(): Promise<World> {
  const home = temporaryFolder()
  const environment = { AICHAT_HOME: home, HOME: home, ...common }
  return {
    name: 'in process',
    names: new Map(),
    run: (words, input) => runMain(words, options(environment, input)),
    close: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** A client with an address and a token; set-up and password changes replace the token. */
async function remote(): Promise<World> {
  const daemon = await openDaemon(common)
  const home = temporaryFolder()
  let token: string | undefined
  return {
    name: 'remote',
    names: new Map(),
    async run(words, input) {
      const environment = {
        AICHAT_HOME: home,
        HOME: home,
        AICHAT_SERVER: daemon.url,
        ...(token !== undefined && { AICHAT_TOKEN: token }),
      }
      const ran = await runMain(words, options(environment, input))
      if ((words[0] === 'setup' || words[0] === 'passwd') && ran.code === 0) token = JSON.parse(ran.stdout).token
      return ran
    },
    async close() {
      rmSync(home, { recursive: true, force: true })
      await daemon.close()
    },
  }
}

/**
 * The program, for the first step of each exit code and kind of output, and in a whole run of each command; the others run in
 * this process, in the same home.
 */
async function program(): Promise<World> {
  const home = openHome({ ...common, ...cheapHashes })
  const met = new Set<string>()
  return {
    name: 'the program',
    names: new Map(),
    run(words, input, code) {
      const kinds = [String(code), words.includes('--json') ? 'as JSON' : 'as text', ...(isWholeRun ? [words[0]!] : [])]
      if (kinds.every((kind) => met.has(kind))) {
        const environment = { AICHAT_HOME: home.folder, HOME: home.folder, ...common }
        return runMain(words, options(environment, input))
      }
      for (const kind of kinds) met.add(kind)
      return home.aichat(words, input === undefined ? {} : { input })
    },
    close: home.remove,
  }
}

function options(environment: Record<string, string>, input: string | undefined): RunOptions {
  return { environment, ...(input !== undefined && { input }) }
}

/** The output of a command without values that differ between runs: ids, times, tokens, generated passwords. */
function seen({ stdout, bytes, stderr }: Omit<Ran, 'code'>, names: Map<string, string>, remarks: boolean) {
  const failure = stderr.split('\n').filter((line) => remarks || line.startsWith('{"error"'))
  if (bytes.subarray(0, 4).toString() === 'RIFF')
    return { audio: createHash('sha256').update(bytes).digest('hex'), failure }
  return { stdout: plain(stdout, names), failure: failure.map((line) => plain(line, names)) }
}

function plain(text: string, names: Map<string, string>): string {
  const named = (value: string) => {
    if (!names.has(value)) names.set(value, `<id ${names.size}>`)
    return names.get(value)!
  }
  return text
    .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, named)
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
    .replace(/("(?:created_at|updated_at|expires_at|last_used_at)": ?)\d+/g, '$1<time>')
    .replace(/("temporary_password": ?)"\w+"/g, '$1<password>')
    .replace(/"session": (?:null|\{[^}]*\})/, '"session": <login>')
    .replace(/("active_sessions": ?)\d+/, '$1<count>')
    .replace(/("(?:duration_ms|latency_ms)": ?)[\d.]+/g, '$1<time>')
}
