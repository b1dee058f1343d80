// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import { filterOutput } from '../../../src/cli/terminal/filter.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { openFastHome, runMain } from '../../helpers/program/terminal.ts'
import { rejects } from '../../helpers/rejection.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('--jq')
const home = openFastHome()
test.after(() => home.remove())

test('it implies --json and prints texts as they are, all else as compact JSON, a result a line', async () => {
  const result = await home.aichat(['--jq', '.settings[0:2] | .[].name, length, .[0], null, 1.50', 'config', 'list'])
  assert.is(result.code, 0)
  const lines = result.stdout.trimEnd().split('\n')
  assert.equal(lines.slice(0, 3), ['api.host', 'api.port', '2'])
  assert.is(JSON.parse(lines[3]!).name, 'api.host')
  assert.is(lines[4], 'null')
  assert.is((await home.aichat(['config', 'list', '--jq', 'empty'])).stdout, '')
  assert.is((await home.aichat(['config', 'list', '--jq', '-1'])).stdout, '-1\n')
})

test.whole('an expression that is none is told in the words of jq, before the command does anything', async () => {
  const { code, stdout, stderr } = await home.aichat(['config', 'set', 'persona', 'Ada', '--jq', '.a |'])
  assert.equal([code, stdout], [64, ''])
  const error = JSON.parse(stderr)
  assert.equal([error.error, error.exit], ['Invalid --jq expression', 64])
  assert.match(error.details[0], /^jq: error: syntax error, unexpected end of file/)
  assert.is((await home.aichat(['config', 'get', 'persona'])).stdout, '')
  for (const wrong of ['', 'nope', '.a[', 'import "x" as x; .', '(', `${'['.repeat(100_000)}`])
    assert.ok(
      [64, 65].includes((await home.aichat(['config', 'list', '--jq', wrong])).code!) || wrong === '',
      wrong.slice(0, 20),
    )
})

test.whole('an expression that does not fit the output is exit 65, and prints nothing', async () => {
  const { code, stdout, stderr } = await home.aichat(['config', 'list', '--jq', '.settings.name'])
  assert.equal([code, stdout], [65, ''])
  assert.match(JSON.parse(stderr).details[0], /Cannot index array with string "name"/)
  const script = await home.aichat(['completion', 'bash', '--jq', '.'])
  assert.equal([script.code, script.stdout], [65, ''])
  assert.match(script.stderr, /--jq filters JSON, and this output is none/)
})

test('an expression sees nothing of this machine', async () => {
  const { stdout } = await home.aichat(['config', 'list', '--jq', '[env, $ENV] | tostring | test("AICHAT|canary")'], {
    environment: { CUSTOM_API_KEY: 'sk-canary-0123456789' },
  })
  assert.is(stdout, 'false\n')
})

test('control characters do not reach a terminal', async () => {
  const { stdout } = await runMain(['config', 'list', '--jq', '"a\\u001b[2Jb\\u202e"'], {
    environment: { AICHAT_HOME: home.folder },
    shown: true,
  })
  assert.is(stdout, 'a[2Jb\n')
})

test('a failure after the output is still a failure, with the output filtered', async () => {
  const { code, stdout } = await home.aichat(['plugin', 'validate', '-', '--jq', '.. | .valid? // empty'], {
    input: '{}',
  })
  assert.is(code, 65)
  assert.ok(!stdout.includes('{'))
})

test('each line of a stream of JSON is filtered, also one longer than what jq holds at a time', async () => {
  const { cli, written } = standIn()
  const filter = await filterOutput(cli, '.id')
  const count = isWholeRun ? 70 : 3
  const line = (id: number) => `${JSON.stringify({ id, text: 'x'.repeat(1_000_000) })}\n`
  for (let id = 0; id < count; id++) await cli.io.out(line(id))
  if (isWholeRun) assert.ok(written.length > 0, 'it is filtered on the way')
  await filter.flush()
  filter.close()
  assert.is(written.join(''), Array.from({ length: count }, (_, id) => `${id}\n`).join(''))
})

test.whole('one value of many megabytes is filtered whole', async () => {
  // Of 16 MB, for which jq needs twice the memory that its process may hold without them.
  const count = 300_000
  const { cli, written } = standIn()
  const filter = await filterOutput(cli, 'length, .[-1].id')
  const items = Array.from({ length: count }, (_, id) => `{"id":${id},"text":"a text that takes some room"}`)
  await cli.io.out(`[${items.join(',\n')}]\n`)
  await filter.flush()
  filter.close()
  assert.is(written.join(''), `${count}\n${count - 1}\n`)
})

test.whole('an expression that fills the memory is ended', async () => {
  const { cli } = standIn()
  const filter = await filterOutput(cli, '[range(4000) | reduce range(20) as $_ (tostring; . + .)]')
  await cli.io.out('null\n')
  await rejects(filter.flush(), 'too_large', /memory/)
  filter.close()
})

test.whole('an expression that makes a list without end is ended at 256 MiB or ten seconds, with advice', async () => {
  const { cli } = standIn()
  const filter = await filterOutput(cli, '[range(1e12)]')
  await cli.io.out('null\n')
  const late =
    /^jq (?:needs more than 256 MiB of memory|takes more than 10 seconds) for this expression\nBound what it makes/
  await rejects(filter.flush(), 'too_large', late)
  filter.close()
})

test('a signal ends an expression that computes for ever', async () => {
  const { cli, stop } = standIn()
  const filter = await filterOutput(cli, 'def f: f; f')
  await cli.io.out('null\n')
  const flushed = filter.flush().catch((reason: Error) => reason.message)
  stop.abort(new Error('stopped'))
  assert.is(await flushed, 'stopped')
  filter.close()
})

test.whole('Ctrl-C ends a process whose expression computes for ever', async () => {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'config', 'list', '-v', '--jq', 'def f: f; ("ready" | stderr | empty), f'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timer = setInterval(() => child.kill('SIGINT'), 300)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  assert.ok(code === 130 || child.signalCode === 'SIGINT')
})

test.run()

/** A command of which only the output counts. */
function standIn(): { readonly cli: Cli; readonly written: string[]; readonly stop: AbortController } {
  const written: string[] = []
  const stop = new AbortController()
  const { signal } = stop
  const io = { stdoutIsTerminal: false, outClosed: false, signal, out: async (text: string) => void written.push(text) }
  return { cli: { io, signal: () => signal } as unknown as Cli, written, stop }
}
