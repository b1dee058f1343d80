// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import * as assert from 'uvu/assert'
import { clientKinds, openStdioClient, type ServerCommand } from '../helpers/mcp/clients.ts'
import { callTool, tourTools } from '../helpers/mcp/tool-tour.ts'
import { aichatCommand, openHome } from '../helpers/program/command.ts'
import { openDaemon } from '../helpers/program/daemon.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite("a persona's memory on stdin and stdout")

type Made = ReturnType<typeof openHome>

async function homeWithMia(): Promise<Made> {
  const home = openFastHome()
  const words = ['persona', 'create', '--name', 'Mia', '-m', 'local:m', '--prompt', 'You are Mia.']
  assert.is((await home.aichat(words)).code, 0)
  return home
}

function commandIn({ folder }: Made, ...words: readonly string[]): ServerCommand {
  const [command, ...args] = aichatCommand
  const env = { PATH: process.env['PATH'] ?? '', AICHAT_HOME: folder, HOME: folder, OLLAMA_HOST: '127.0.0.1:9' }
  return { command: command!, args: [...args, 'mcp', ...words], env }
}

const initialize = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
})
const call = (id: number, name: string, given: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given },
})
const lines = (messages: readonly unknown[]) =>
  messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n')

for (const kind of isWholeRun ? clientKinds : (['v2'] as const))
  test(`the SDK ${kind} lists and calls every tool, and its name stays with what it adds`, async () => {
    const home = await homeWithMia()
    const client = await openStdioClient(kind, commandIn(home))
    try {
      await tourTools(client, 'mcp:test-client')
    } finally {
      await client.close()
      home.remove()
    }
  })

test.whole('requests in flight are answered after the end of stdin, and stdout holds messages alone', async () => {
  const home = await homeWithMia()
  const adds = [...Array(40).keys()].map((id) => call(id + 1, 'memory_add', { content: `Fact number ${id}` }))
  const input = `${lines([initialize(0), ...adds])}\n`
  // A process: in this one, a stray print would go unseen.
  const { code, stdout, stderr } = await home.aichat(['mcp', '-v'], { input, cwd: home.folder })
  assert.is(code, 0, stderr)
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.is(answers.length, 41)
  assert.ok(answers.every(({ result }) => result && !result.isError))
  home.remove()
})

test('lines that are no messages are answered, and end nothing', async () => {
  const home = await homeWithMia()
  const input = lines([
    'garbage',
    '[]',
    '{"jsonrpc":"2.0"}',
    `{"deep":${'['.repeat(200_000)}`,
    `"${'x'.repeat(2_000_000)}"`,
    '',
    initialize(1),
    call(2, 'memory_add', { content: 'x'.repeat(20_001) }),
    call(3, 'memory_add', { content: 'x', other: [...Array(5_000).keys()] }),
    { jsonrpc: '2.0', id: 4, method: 'no/such' },
    call(5, 'persona_state'),
    call(5, 'persona_state'),
  ])
  const { code, stdout } = await home.aichat(['mcp'], { input: `${input}\n` })
  assert.is(code, 0)
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const codes = answers.filter(({ id }) => id === null).map(({ error }) => error.code)
  assert.equal(codes.sort(), [-32600, -32600, -32600, -32600, -32700, -32700])
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  assert.match(byId.get(2).result.content[0].text, /content/)
  assert.match(byId.get(3).result.content[0].text, /maximum of 1000 elements/)
  assert.equal([byId.get(4).error.code, byId.get(5).result.structuredContent.name], [-32601, 'Mia'])
  home.remove()
})

test.whole('SIGTERM ends it with stdin open', async () => {
  const home = await homeWithMia()
  const { command, args, env } = commandIn(home)
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${JSON.stringify(initialize(1))}\n`)
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  assert.is(JSON.parse(line).id, 1)
  child.kill('SIGTERM')
  assert.equal(await once(child, 'exit'), [0, null])
  home.remove()
})

test('a persona is needed: the only one, or the one that is named', async () => {
  const home = openFastHome()
  const none = await home.aichat(['mcp'], { input: '' })
  assert.equal([none.code, none.stdout], [64, ''])
  assert.match(none.stderr, /no persona yet\n.*persona create/)
  for (const name of ['Mia', 'Leo']) await home.aichat(['persona', 'create', '--name', name, '-m', 'local:m'])
  const several = await home.aichat(['mcp'], { input: '' })
  assert.equal([several.code, several.stdout], [64, ''])
  assert.match(several.stderr, /--persona with one of: Mia, Leo/)
  const unknown = await home.aichat(['mcp', '--persona', 'Eve'], { input: '' })
  assert.is(unknown.code, 67)
  const chosen = await home.aichat(['mcp'], {
    input: `${lines([initialize(1), call(2, 'persona_state')])}\n`,
    environment: { AICHAT_PERSONA: 'Leo' },
  })
  assert.match(chosen.stdout, /"name":"Leo"/)
  home.remove()
})

test.whole("it works on a daemon with a key of the scope `memory`, and reaches no other user's persona", async () => {
  const daemon = await openDaemon()
  const register = async (username: string) =>
    (await daemon.call('POST', '/api/auth/register', { body: { username, password: 'Passw0rd' } })).body.token as string
  const [ada, bob] = [await register('ada'), await register('bob')]
  const persona = { name: 'Mia', model: 'm', system_prompt: 'You are Mia.' }
  const { id } = (await daemon.call('POST', '/api/personas', { token: ada, body: persona })).body
  const key = async (token: string, body: object) =>
    (await daemon.call('POST', '/api/keys', { token, body: { name: 'mcp', ...body } })).body.secret as string
  const home = openHome()
  const withKey = (token: string) => {
    const made = commandIn(home, '--server', daemon.url, '--persona', id)
    return { ...made, env: { ...made.env, AICHAT_TOKEN: token } }
  }

  const client = await openStdioClient('v2', withKey(await key(ada, { scopes: ['memory'] })))
  const { memory } = await callTool(client, 'memory_add', { content: 'The key to the shed is under the pot' })
  assert.is(memory.source, 'mcp:test-client')
  assert.is((await callTool(client, 'persona_state')).name, 'Mia')
  await client.close()

  const environment = { AICHAT_TOKEN: await key(bob, { scopes: ['memory'] }) }
  const words = ['mcp', '--server', daemon.url, '--persona', id]
  const refused = await home.aichat(words, { input: '', environment })
  assert.equal([refused.code, refused.stdout], [77, ''])
  assert.match(refused.stderr, /belongs to another user/)
  home.remove()
  await daemon.close()
})

test.run()
