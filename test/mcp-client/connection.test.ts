// Some with --all only: many processes.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openToolServers, type ToolServers } from '../../src/app/tool-servers.ts'
import { textOf } from '../../src/chat/protocol/messages.ts'
import type { ToolServer } from '../../src/chat/tools/tool-server.ts'
import type { AppError } from '../../src/errors.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openHttpToolServer } from '../helpers/mcp/http-server.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { processGone } from '../helpers/program/pseudo-terminal.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('servers of tools')
const keys = { OPENAI_API_KEY: 'sk-secret', AICHAT_TOKEN: 'secret', HF_TOKEN: 'secret', JWT_SECRET: 'secret' }

const text = (words: string) => ({ type: 'text', text: words })

/** Does something with servers that are configured in a folder of their own. */
async function withServers(
  work: (servers: ToolServers, home: string) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  const home = temporaryFolder()
  const servers = openToolServers(
    readSettings({ PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home, ...keys, ...environment }),
  )
  try {
    await work(servers, home)
  } finally {
    await servers.close()
  }
}

function addStdio({ list }: ToolServers, more: readonly string[] = [], options: object = {}): void {
  const [command, ...args] = toolServerCommand
  list.set('tools', { command, args: [...args, ...more], ...options })
}

/** Does something with the tools over stdio and over HTTP; `more` are words for the program on stdio. */
async function withBoth(
  work: (server: ToolServer) => Promise<void>,
  options: object = {},
  more: readonly string[] = [],
): Promise<void> {
  const http = await openHttpToolServer()
  await withServers(async (servers) => {
    addStdio(servers, more, options)
    servers.list.set('http', { url: http.url, ...options })
    for (const name of ['tools', 'http']) {
      await using server = closing(await servers.open(name))
      await work(server)
    }
  })
  await http.close()
}

test('tools are listed and called over stdio and HTTP', () =>
  withBoth(
    async (server) => {
      const tools = await server.tools()
      assert.equal(tools.find(({ name }) => name === 'echo')?.annotations, { readOnlyHint: true })
      assert.equal(await server.call('echo', { text: 'hello' }), { content: [text('You said: hello')], isError: false })
      assert.equal(await server.call('fail', {}), { content: [text('no such thing')], isError: true })
      assert.is((await server.call('echo', { text: 1 })).isError, true)
      assert.is((await server.call('none such', {}).catch(() => ({ isError: true }))).isError, true)
    },
    {},
    ['--sdk'],
  ))

test('a call ends with its signal', () =>
  withBoth(async (server) => {
    const stop = new AbortController()
    const called = server.call('slow', {}, stop.signal)
    // The answer of a later call says that this one has reached the server.
    await server.call('echo', { text: 'x' })
    stop.abort(new Error('enough'))
    assert.match(String(await called.catch(String)), /enough|abort/i)
  }))

test('roots, sampling and elicitation are not offered', () =>
  withBoth(
    async (server) => {
      const said = await server.call('asker', {}).then(
        ({ content }) => textOf(content),
        (reason: Error) => reason.message,
      )
      assert.not.match(said, 'fulfilled')
    },
    { timeout: 1 },
  ))

test('a changed description is seen at the next look', () =>
  withServers(async (servers) => {
    addStdio(servers)
    const server = await servers.open('tools')
    const described = async () => (await server.tools()).find(({ name }) => name === 'shifty')?.description
    assert.is(await described(), 'Does nothing much')
    await server.call('shift', {})
    assert.match((await described())!, /stranger/)
    await server.close()
  }))

test('a server gets its own variables and none of our keys', () =>
  withServers(async (servers, home) => {
    addStdio(servers)
    await servers.set('tools', servers.list.get('tools'), { env: { TOKEN: 'for-the-server' } }, true)
    assert.not.match(readFileSync(join(home, 'mcp.json'), 'utf8'), /for-the-server/)
    const server = await servers.open('tools')
    const { content } = await server.call('environment', {})
    const environment = JSON.parse(textOf(content)) as Record<string, string>
    assert.equal([environment['TOKEN'], environment['HOME']], ['for-the-server', home])
    for (const name of [...Object.keys(keys), 'AICHAT_HOME']) assert.is(environment[name], undefined, name)
    await server.close()
  }))

test.whole('a server that floods stderr or ends is told with its last words', () =>
  withServers(async (servers) => {
    addStdio(servers)
    const server = await servers.open('tools')
    assert.is(textOf((await server.call('noisy', {})).content), 'quiet again')
    await server.close()
    addStdio(servers)
    const tired = await servers.open('tools')
    await rejects(tired.call('crash', {}), 'unavailable', /the server is tired/)
    await rejects(tired.call('echo', { text: 'x' }), 'unavailable', /tools/)
    await tired.close()
  }),
)

test('a server that npm cannot start is told with npm’s error, not with its notices', () =>
  withServers(async (servers) => {
    const said = [
      'npm warn deprecated old@1.0.0: no longer supported',
      'npm error code E404',
      'npm error 404 Not Found - GET http://packages.example/none',
      'npm error',
      'npm error A complete log of this run can be found in: /h/.npm/_logs/1.log',
      'npm notice New major version of npm available! 10.0.0 -> 11.0.0',
      'npm notice',
    ].join('\n')
    servers.list.set('none', {
      command: process.execPath,
      args: ['-e', `console.error(${JSON.stringify(said)}); process.exit(1)`],
    })
    const error = (await servers.open('none').catch((reason: unknown) => reason)) as AppError
    assert.equal(error.details, [
      'stderr: npm error code E404',
      'stderr: npm error 404 Not Found - GET http://packages.example/none',
    ])
  }))

test('the end of a connection ends the whole group of processes, also of one that takes no SIGTERM', () =>
  withServers(async (servers, home) => {
    const file = join(home, 'pids')
    addStdio(servers, [file])
    const server = await servers.open('tools')
    const pids = readFileSync(file, 'utf8').split(' ').map(Number)
    await server.close()
    for (const pid of pids) await processGone(pid)
  }))

test('a server that does not start, is no server, or is at a forbidden address is told in a sentence', () =>
  withServers(
    async (servers) => {
      servers.list.set('none', { command: '/no/such/program' })
      servers.list.set('other', { command: process.execPath, args: ['-e', 'console.log("hello")'] })
      servers.list.set('metadata', { url: 'http://169.254.169.254/mcp' })
      servers.list.set('private', { url: 'http://192.168.7.7/mcp' })
      const program = /cannot be started: \/no\/such\/program: the program is not there/
      await rejects(servers.open('none'), 'unavailable', program)
      await rejects(servers.open('other'), 'unavailable', /other does not answer as an MCP server/)
      await rejects(servers.open('metadata'), 'configuration', /never called/)
      await rejects(servers.open('private'), 'configuration', /private address/)
      await rejects(servers.open('unknown'), 'not_found', /aichat mcp list/)
    },
    { PLUGIN_ALLOW_PRIVATE: 'false' },
  ))

test('headers go with each request and into no file in clear', async () => {
  const http = await openHttpToolServer()
  await withServers(async (servers, home) => {
    const kept = await servers.set(
      'http',
      { url: http.url },
      { headers: { Authorization: 'Bearer for-the-server' } },
      true,
    )
    const server = await servers.open('http')
    await server.call('echo', { text: 'x' })
    await server.close()
    assert.ok(http.received.length > 1)
    for (const headers of http.received) assert.is(headers.authorization, 'Bearer for-the-server')
    assert.not.match(readFileSync(join(home, 'mcp.json'), 'utf8'), /for-the-server/)
    await servers.remove('http')
    servers.list.set('http', kept)
    await rejects(servers.open('http'), 'configuration', /secrets of the MCP server http are gone/)
  })
  await http.close()
})

test('chats share a connection, which closes with the servers', () =>
  withServers(async (servers, home) => {
    const file = join(home, 'pids')
    addStdio(servers, [file])
    const [first, second] = await Promise.all([servers.share('tools'), servers.share('tools')])
    await first.close()
    assert.is(textOf((await second.call('echo', { text: 'x' })).content), 'You said: x')
    await second.close()
    const [pid] = readFileSync(file, 'utf8').split(' ').map(Number)
    assert.ok(existsSync(`/proc/${pid}`) || process.platform !== 'linux')
    await servers.close()
    await processGone(pid!)
  }))

test('a list that makes no sense is refused with every problem', () =>
  withServers(async ({ list }) => {
    for (const [name, server] of [
      ['a b', { command: 'x' }],
      ['ok', { command: '' }],
      ['ok', { url: 'ftp://x' }],
      ['ok', { command: 'x', url: 'http://x' }],
      ['ok', {}],
    ] as const)
      assert.throws(() => list.set(name, server), /Invalid server/)
  }))

test.run()
