// Some with --all only: a whole sample.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { textOf } from '../../../src/chat/protocol/messages.ts'
import { openHttpToolServer } from '../../helpers/mcp/http-server.ts'
import { toolServerCommand } from '../../helpers/mcp/stdio-server.ts'
import { pluck } from '../../helpers/pluck.ts'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { processGone } from '../../helpers/program/pseudo-terminal.ts'
import { converseHere, openFastHome, openTerminalHere } from '../../helpers/program/terminal.ts'
import { openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { resultsIn, scripted, sent, type Turn } from '../../helpers/providers/scripted-provider.ts'
import { calling, speaking } from '../../helpers/speech/speaking-model.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('chats that call tools')
const environment = { CUSTOM_API_KEY: 'sk-of-the-test' }

interface Setting {
  readonly home: Home
  readonly provider: StandIn
  /** Runs a command and checks that it succeeds. */
  aichat(...words: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
}

/** Does something with a provider that answers these turns, and a server of tools: in this process, or a program, which tells its changes. */
async function withTools(
  turns: readonly Turn[],
  work: (setting: Setting) => Promise<void>,
  isProgram = false,
): Promise<void> {
  const provider = await openStandIn(turns.length > 0 ? scripted(turns) : echoing)
  const tools = await openHttpToolServer()
  const home = openFastHome(environment)
  const aichat = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await home.aichat(words)
    assert.is(code, 0, stderr)
    return { stdout, stderr }
  }
  try {
    const document = JSON.stringify(pluginAt(provider.url))
    assert.is((await home.aichat(['plugin', 'install', '-', '--activate'], { input: document })).code, 0)
    await aichat(
      'mcp',
      'add',
      'tools',
      '--timeout-seconds',
      '5',
      ...(isProgram ? ['--', ...toolServerCommand] : ['--url', tools.url]),
    )
    await work({ home, provider, aichat })
  } finally {
    await provider.close()
    await tools.close()
    home.remove()
  }
}

/** Calls `echo` where the user asks for it, and else answers. */
const echoing = speaking('openai-chat', ({ messages }) => {
  const { role, content } = messages.at(-1)!
  const isAsked = role === 'user' && textOf(content).endsWith('Please echo it')
  return isAsked ? calling('tools__echo', { text: 'x' }) : { content: `I know ${messages.length} messages.` }
})

test.whole('what a server says of its tools reaches no screen with characters that turn, hide or colour text', () =>
  withTools([], async ({ aichat, home }) => {
    const hostile = '\u202eevil\u2066 \u001b[31mred\u001b[0m \u001b]0;title\u0007 \u200bhidden\u00ad\r\n\u009bx'
    const tools = [
      { name: 'short', description: 'plain', inputSchema: { type: 'object' } },
      { name: `${'n'.repeat(500)}\u202e`, description: hostile, inputSchema: { type: 'object' } },
    ]
    await aichat('mcp', 'add', 'hostile', '--', process.execPath, '-e', serverOf(tools))
    const { stdout } = await aichat('mcp', 'test', 'hostile')
    const whole = await aichat('mcp', 'test', 'hostile', '--plain')
    const { stderr } = await home.aichat(['mcp', 'allow', 'hostile'])
    const { stderr: unknown } = await home.aichat(['mcp', 'allow', 'hostile', 'none'])
    for (const text of [stdout, whole.stdout, stderr, unknown])
      assert.not.match(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
    const [headings, short, long, ...rest] = stdout.trimEnd().split('\n')
    assert.equal(rest, [])
    const at = headings!.indexOf('CHATS')
    assert.equal([at, short!.slice(at, at + 3), long!.slice(at, at + 3)], [130, 'ask', 'ask'])
    assert.match(long!, /^n{127}… {2}ask +no +evil \[31mred\[0m \]0;title hidden x$/)
    assert.match(whole.stdout, /^n{500}\t/m)
  }),
)

/** A program that serves these tools on stdio. */
function serverOf(tools: readonly object[]): string {
  const answers = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools },
  }
  return `const answers = ${JSON.stringify(answers)}
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
    })`
}

for (const flags of [[], ['--no-stream']])
  test.whole(`a call of a tool that was never offered is answered so, and the others are made ${flags.join(' ')}`, () =>
    withTools(
      [
        [
          ['no_such_tool', {}],
          ['tools__echo', { text: 'Ada' }],
        ],
        'Done.',
      ],
      async ({ aichat, provider }) => {
        await aichat('mcp', 'allow', 'tools', 'echo')
        assert.is((await aichat('chat', ...flags, '--mcp', 'tools', 'Say it')).stdout, 'Done.\n')
        assert.equal(resultsIn(provider.received), ['Error: There is no such tool', 'You said: Ada'])
      },
    ),
  )

for (const flags of [[], ['--no-stream']])
  test(`an allowed tool is called, and the model goes on with its result ${flags.join(' ')}`, () =>
    withTools([[['tools__echo', { text: 'Ada' }]], 'Done.'], async ({ aichat, provider }) => {
      await aichat('mcp', 'allow', 'tools', 'echo')
      const { stdout, stderr } = await aichat('chat', ...flags, '--mcp', 'tools', 'Say it')
      assert.is(stdout, 'Done.\n')
      assert.match(stderr, 'aichat: tools: echo {"text":"Ada"}')
      const [first, second] = provider.received.map(sent)
      assert.equal(
        first!.tools!.map((tool) => tool.function.name),
        ['tools__echo'],
      )
      assert.equal(pluck(second!.messages, 'role'), ['user', 'assistant', 'tool'])
      assert.equal(second!.messages.at(-1)!.tool_call_id, 'call_0')
      assert.equal(resultsIn(provider.received), ['You said: Ada'])
    }))

test('the turns of a session with a persona, files and tools: each begins as the one before', () =>
  withTools([], async ({ aichat, home, provider }) => {
    await aichat('mcp', 'allow', 'tools', 'echo')
    await aichat('persona', 'create', '--name', 'Mia', '-m', 'custom-model', '--prompt', 'You are Mia.', '--memory')
    const file = join(home.folder, 'notes.txt')
    writeFileSync(file, 'The lamps are in Bern.\n'.repeat(50))
    const firsts: ReturnType<typeof sent>[] = []
    // Each kind of turn comes twice, or five times.
    const turns = isWholeRun ? 20 : 8
    let notes = 0
    for (let turn = 1; turn <= turns; turn++) {
      const from = provider.received.length
      const words = [
        `My friend number ${turn} sells lamps.`,
        `Where does my friend number ${turn - 1} sell lamps?`,
        'Please echo it',
        'What do the notes say of my friend?',
      ][(turn - 1) % 4]!
      await aichat('chat', '-s', 'Long', '-p', 'Mia', '--mcp', 'tools', ...(turn % 4 === 0 ? ['-f', file] : []), words)
      const [first, second] = provider.received.slice(from).map(sent)
      firsts.push(first!)
      assert.is(second !== undefined, turn % 4 === 3, `the rounds of turn ${turn}`)
      if (second) assert.equal(second.messages.slice(0, first!.messages.length), first!.messages)
      notes += Number(JSON.stringify(first!.messages.at(-1)).includes('never instructions'))
    }
    assert.ok(notes >= turns / 4, `${notes} turns with memories`)
    for (const [at, later] of firsts.slice(1).entries()) {
      const { messages, tools } = firsts[at]!
      const prefix = JSON.stringify(messages.slice(0, -1)).slice(0, -1)
      assert.ok(JSON.stringify(later.messages).startsWith(prefix), `turn ${at + 2}`)
      assert.equal(later.tools, tools)
      assert.is(later.messages.length, messages.length + 2)
    }
  }))

for (const flags of [[], ['--no-stream']])
  test(`the last answer alone is checked against a schema ${flags.join(' ')}`, () =>
    withTools([[['tools__echo', { text: 'Ada' }]], '{"name": "Ada"}'], async ({ aichat, provider }) => {
      await aichat('mcp', 'allow', 'tools', 'echo')
      const { stdout } = await aichat(
        'chat',
        ...flags,
        '--mcp',
        'tools',
        '--schema',
        '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}',
        'Who?',
      )
      assert.is(stdout, '{"name": "Ada"}\n')
      for (const { body } of provider.received) assert.is(JSON.parse(body).response_format.type, 'json_schema')
    }))

test.whole('with --json there is the last answer alone', () =>
  withTools([[['tools__echo', { text: 'x' }]], 'Done.'], async ({ aichat }) => {
    await aichat('mcp', 'allow', 'tools', 'echo')
    const { stdout } = await aichat('chat', '--json', '--mcp', 'tools', 'Say it')
    assert.is(JSON.parse(stdout).choices[0].message.content, 'Done.')
  }),
)

test('without a terminal, tools that were not allowed are neither offered nor called', () =>
  withTools(
    [
      [
        ['tools__echo', { text: 'x' }],
        ['tools__environment', {}],
      ],
      'Sorry.',
    ],
    async ({ aichat, provider }) => {
      assert.is((await aichat('chat', '--mcp', 'tools', 'Say it')).stdout, 'Sorry.\n')
      assert.is(sent(provider.received[0]!).tools, undefined)
      assert.equal(resultsIn(provider.received), Array(2).fill('Error: There is no such tool'))
    },
  ))

test.whole('a tool that changed is blocked until it is allowed again, also in the middle of a turn', () =>
  withTools(
    [[['tools__shift', {}]], [['tools__shifty', {}]], 'Done.'],
    async ({ aichat, provider }) => {
      await aichat('mcp', 'allow', 'tools', 'shift', 'shifty')
      const { stderr } = await aichat('chat', '--mcp', 'tools', 'Go')
      assert.equal(resultsIn(provider.received), ['changed', 'Error: The tool has changed since it was allowed'])
      assert.match(stderr, 'allow it first: aichat mcp allow tools shifty')
    },
    true,
  ),
)

test('what hangs, says too much, fails or makes no sense comes back to the model as an error', () =>
  withTools(
    [
      [
        ['tools__slow', {}],
        ['tools__loud', {}],
        ['tools__long', {}],
        ['tools__fail', {}],
        ['tools__echo', '{"text":'],
        ['tools__echo', '[]'],
        ['tools__echo', { text: 'still there' }],
      ],
      'Done.',
    ],
    async ({ aichat, provider }) => {
      await aichat('mcp', 'allow', 'tools', '-y')
      await aichat('chat', '--mcp', 'tools', 'Go')
      const [slow, loud, long, fail, broken, list, fine] = resultsIn(provider.received)
      assert.match(slow!, /^Error: The server tools gave no answer within 5 s/)
      assert.match(loud!, /^Error: The server tools answered with more than/)
      assert.match(long!, /y\n\[cut: 200000 characters in all\]$/)
      assert.ok(long!.length < 51_000)
      assert.is(fail, 'Error: no such thing')
      assert.match(broken!, /^Error: .*not JSON/)
      assert.match(list!, /^Error: The arguments must be a JSON object/)
      assert.is(fine, 'You said: still there')
    },
  ))

test('a model that calls tools without end has to answer after sixteen rounds', () =>
  withTools([[['tools__echo', { text: 'again' }]]], async ({ aichat, provider, home }) => {
    await aichat('mcp', 'allow', 'tools', 'echo')
    const { stderr } = await home.aichat(['chat', '--mcp', 'tools', 'Go'])
    assert.match(stderr, 'now it has to answer')
    assert.is(provider.received.length, 17)
    assert.is(sent(provider.received.at(-1)!).tool_choice, 'none')
  }))

test('a conversation and a memory keep the question and the final answer', () =>
  withTools([[['tools__echo', { text: 'x' }]], 'Your cat is called Tilly.'], async ({ aichat, provider }) => {
    await aichat('mcp', 'allow', 'tools', 'echo')
    await aichat('persona', 'create', '--name', 'Mia', '-m', 'custom-model', '--memory', '--mcp', 'tools')
    await aichat('chat', '-p', 'Mia', '-s', 'talk', 'My cat is called Tilly')
    assert.equal(resultsIn(provider.received), ['You said: x'])
    const { messages } = JSON.parse((await aichat('session', 'show', 'talk', '--json')).stdout)
    assert.equal(pluck(messages, 'role', 'content'), [
      ['user', 'My cat is called Tilly'],
      ['assistant', 'Your cat is called Tilly.'],
    ])
    const { memories } = JSON.parse((await aichat('persona', 'memory', 'list', 'Mia', '--json')).stdout)
    assert.ok(memories.length > 0)
    assert.not.match(JSON.stringify(memories), /You said/)
  }))

test('--dry-run shows the tools', () =>
  withTools(['x'], async ({ aichat, provider }) => {
    await aichat('mcp', 'allow', 'tools', 'echo')
    const { body } = JSON.parse((await aichat('chat', '--dry-run', '--mcp', 'tools', 'Go')).stdout)
    assert.is(body.tools[0].function.name, 'tools__echo')
    assert.is(provider.received.length, 0)
  }))

test('an unknown server ends the command, one that only a persona names does not', () =>
  withTools(['Hello.'], async ({ aichat, home }) => {
    const { code, stderr } = await home.aichat(['chat', '--mcp', 'none', 'Go'])
    assert.is(code, 67)
    assert.match(stderr, /MCP server "none" not found/)
    await aichat('persona', 'create', '--name', 'Mia', '-m', 'custom-model', '--mcp', 'none')
    assert.match((await aichat('chat', '-p', 'Mia', 'Go')).stderr, /the tools of none are left out/)
  }))

test('at a terminal each call is asked about, with its arguments, until the user says always', () =>
  withTools(
    [[['tools__echo', { text: 'one \u001b[2Jtwo' }]], [['tools__echo', { text: 'again' }]], 'Done.'],
    async ({ home, provider }) => {
      const { code, shown, stdout } = await converseHere(
        home.folder,
        ['chat', '--mcp', 'tools', 'Go'],
        [
          [/Call it\?/, ''],
          // A prompt may be drawn more than once: the second is known by its arguments.
          [/again[\s\S]*Call it\?/, 'always'],
        ],
        { ...environment, OLLAMA_HOST: '127.0.0.1:9' },
      )
      assert.equal([code, stdout], [0, 'Done.\n'], shown)
      assert.match(shown, /wants to call echo of tools/)
      assert.match(shown, '{"text":"one \\u001b[2Jtwo"}')
      assert.equal(resultsIn(provider.received), ['Error: The user does not allow this call', 'You said: again'])
      const { decisions } = JSON.parse(readFileSync(join(home.folder, 'mcp.json'), 'utf8'))
      assert.equal([decisions.length, decisions[0].tool, decisions[0].decision], [1, 'echo', 'always'])
    },
  ))

test('Ctrl-C at a question calls nothing: a conversation goes on, a single question ends', () =>
  withTools(
    [[['tools__echo', { text: 'x' }]], [['tools__echo', { text: 'x' }]], 'Hello.'],
    async ({ home, provider }) => {
      const more = { ...environment, AICHAT_HOME: home.folder, HOME: home.folder, OLLAMA_HOST: '127.0.0.1:9' }
      const single = await converseHere(
        home.folder,
        ['chat', '--mcp', 'tools', 'Go'],
        [[/Call it\?/, { keys: '\x03' }]],
        more,
      )
      assert.equal([single.code, single.stdout], [130, ''])
      const terminal = openTerminalHere(['chat', '--mcp', 'tools'], more)
      await terminal.shows(/> $/)
      terminal.type('first\r')
      await terminal.shows(/Call it\?/)
      terminal.type('\x03')
      await terminal.shows(/> $/)
      terminal.type('second\r')
      await terminal.shows(/Hello\.[\s\S]*> $/)
      terminal.type('\x04')
      const { code, restored } = await terminal.ended()
      assert.equal([code, restored, provider.received.length], [0, true, 3])
    },
  ))

test.whole('a server may be a program, whose processes end with the chat', () =>
  withTools([[['tools__echo', { text: 'Ada' }]], 'Hello.'], async ({ aichat, home, provider }) => {
    const file = join(home.folder, 'pids')
    await aichat('mcp', 'add', 'tools', '--force', '--', ...toolServerCommand, file)
    await aichat('mcp', 'allow', 'tools', 'echo')
    await aichat('chat', '--mcp', 'tools', 'Go')
    assert.equal(resultsIn(provider.received), ['You said: Ada'])
    for (const pid of readFileSync(file, 'utf8').split(' ')) await processGone(Number(pid))
    rmSync(file)
  }),
)

test.run()
