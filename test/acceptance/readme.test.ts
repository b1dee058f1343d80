// With --all only: many processes.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { freePort } from '../helpers/free-port.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('README')
const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
/** The blocks of commands, in order, each behind the last heading before it. */
const blocks = [...readme.matchAll(/```(sh|console)\n([\s\S]*?)```/g)].map(([, kind, lines]) => ({
  kind: kind!,
  lines: lines!,
}))

test('is short, and so is each of its paragraphs', () => {
  assert.ok(readme.split('\n').length <= 221, 'at most 220 lines')
  assert.ok(readme.split(/\s+/).length <= 2_500, 'at most 2,500 words')
  for (const paragraph of readme.replace(/```[\s\S]*?```/g, '').split(/\n\s*\n/))
    assert.ok(paragraph.startsWith('|') || paragraph.length <= 500, paragraph)
})

const all = haveProgram('file') && haveProgram('curl') ? test : test.skip

all('every command works, and those of the opening print what stands below them', async () => {
  const opening = blocks.find(({ kind }) => kind === 'console')!.lines
  const port = String(await freePort())
  const provider = await openStandIn((request, response) => {
    const { model, stream, messages } = JSON.parse(request.body)
    // The user's words are the last line: notes of a persona stand before them.
    const text = `${model}: ${messages.at(-1).content.split('\n').at(-1)}`
    if (!stream) return json(response, 200, completion(text, model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents([text], model).join(''))
  })
  const folder = temporaryFolder()
  const pids = join(folder, 'pids')
  const environment = {
    PATH: `${join(folder, 'programs')}:${process.env['PATH']}`,
    HOME: folder,
    AICHAT_HOME: join(folder, 'home'),
    OLLAMA_HOST: '127.0.0.1:9',
    PLUGIN_KEY_HOSTS: `OPENAI_API_KEY=${new URL(provider.url).host}`,
  }
  const shell = (lines: string) => run(lines.replaceAll('127.0.0.1:3001', `127.0.0.1:${port}`), folder, environment)
  try {
    mkdirSync(join(folder, 'programs'))
    symlinkSync(join(root, 'bin'), join(folder, 'bin'))
    for (const [name, text] of Object.entries(programs(port, pids))) writeProgram(join(folder, 'programs', name), text)
    const commands = [...opening.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command!)
    assert.ok(commands.length >= 5)
    let printed = ''
    for (const command of commands) printed += `$ ${command}\n${await shell(command)}`
    assert.fixture(masked(printed), masked(opening))

    const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'OPENAI_API_KEY' }
    const plugin = pluginAt(provider.url, { id: 'openai', auth, model_map: ['gpt-4.1-mini', 'gpt-4o'] })
    writeFileSync(join(folder, 'plugin.json'), JSON.stringify(plugin))
    await shell('OPENAI_API_KEY=sk-of-the-test aichat plugin install --force plugin.json')
    await shell(`aichat config set api.port ${port}`)
    // One shell for all, as a reader has it.
    const lines = blocks.filter(({ kind }) => kind === 'sh').map((block) => block.lines)
    const output = await shell(['set -ex', ...lines].join('\n'))
    assert.match(output, /^gpt-4.1-mini: What is a monad\?$/m)
    assert.match(output, /^gpt-4.1-mini: Where does my sister live\?$/m)
    assert.match(provider.received.at(-2)?.body ?? '', /Where does my sister live/)
    assert.match(provider.received.at(-2)?.body ?? '', /My sister Ines lives in Lisbon/)
    assert.match(output, /"content":"gpt-4.1-mini: Hi"/)
    assert.is(readFileSync(join(folder, 'hello.wav')).subarray(0, 4).toString(), 'RIFF')
  } finally {
    await run(`kill $(cat ${pids}) 2> /dev/null || true`, folder, environment)
    await provider.close()
  }
})

test.run()

/**
 * What the commands call: `aichat` of this build, whose daemon runs on a free port without the speech servers, whose ports may be
 * taken, and stays until the next one starts; `npm`, which starts that daemon, and starts no tests within the tests.
 */
function programs(port: string, pids: string): Readonly<Record<string, string>> {
  const program = aichatCommand.map((word) => `'${word}'`).join(' ')
  const start = [
    `[ ! -f ${pids} ] || kill $(cat ${pids}) || true`,
    `${program} serve api > /dev/null 2>&1 &`,
    `echo $! > ${pids}`,
    `until curl -sf 127.0.0.1:${port}/ready > /dev/null; do sleep 0.1; done`,
  ].join('\n')
  return {
    aichat: `if [ "$*" = serve ]; then\n${start}\nelse exec ${program} "$@"; fi`,
    npm: `case "$*" in\nstart) ;;\n"start -s -- "*) shift 3; exec ${program} "$@" ;;\n"test"*) ;;\n*) exit 1 ;;\nesac`,
  }
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

/** Runs lines in bash and returns what they print. */
function run(lines: string, cwd: string, env: Record<string, string>): Promise<string> {
  const child = spawn('bash', ['-c', lines], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) =>
    child.on('close', (code) => (code === 0 ? resolve(stdout) : reject(new Error(`exit ${code}: ${stderr}`)))),
  )
}

function masked(text: string): string {
  return (
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\d|today \d+:\d\d/g, 'TIME')
      // An early hour makes the column narrower.
      .replace(/TIME +/g, 'TIME  ')
      .replace(/(\d\.\d)\d+/g, '$1')
  )
}
