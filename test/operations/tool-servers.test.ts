import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { openHttpToolServer } from '../helpers/mcp/http-server.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { pluck } from '../helpers/pluck.ts'
import { withDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('MCP tool servers over the API')

test('are listed without their arguments, with the tools that each offers now, and why one fails', () =>
  withDaemon(async ({ installation, call, register }) => {
    const { token } = await register('ada')
    const { list } = await installation.app.toolServers()
    const [command, ...args] = toolServerCommand
    list.set('works', { command, args })
    list.set('broken', { command: '/no/such/program', args: ['--token=hidden'] })
    list.decide({ server: 'works', tool: 'echo', pin: '', decision: 'never', service: true })
    const ask = async (name: string) => call('POST', `/api/mcp/servers/${name}/test`, { token, body: {} })
    const { tools } = (await ask('works')).body
    const echo = tools.find(({ tool }: { tool: string }) => tool === 'echo')
    assert.equal([echo.decision, echo.service], ['ask', 'never'])
    assert.is((await ask('broken')).status, 503)
    assert.is((await ask('unknown')).status, 404)
    const { body } = await call('GET', '/api/mcp/servers', { token })
    assert.not.match(JSON.stringify(body), 'hidden')
    const [works, broken] = body.servers
    const rest = { kind: 'program', headers: [], timeout: null, decisions: 1, connected: false, failure: null }
    assert.equal(works, { name: 'works', place: command, ...rest })
    assert.match(broken.failure.message, 'the program is not there')
  }))

test('are added, changed and removed by their address; their headers go to no other host and into no answer', async () => {
  await using http = closing(await openHttpToolServer())
  await withDaemon(async ({ installation, call, register }) => {
    const { token } = await register('ada')
    const ask = (method: string, place: string, body?: object) =>
      call(method, `/api/mcp/servers/${place}`, { token, ...(body && { body }) })
    const headers = { Authorization: 'Bearer hidden' }
    const added = await ask('PUT', 'tracker', { new: true, url: http.url, headers })
    assert.equal([added.status, added.body.kind, added.body.headers], [200, 'address', ['Authorization']])
    assert.is((await ask('PUT', 'tracker', { new: true, url: http.url })).status, 400)
    const { tools } = (await ask('POST', 'tracker/test', {})).body
    assert.is(http.received.at(-1)!.authorization, 'Bearer hidden')
    const { pin } = tools.find(({ tool }: { tool: string }) => tool === 'echo')
    await ask('PUT', 'tracker/decision', { tool: 'echo', pin, decision: 'ask' })
    await ask('PUT', 'tracker', { timeout: 5 })
    const again = (await ask('POST', 'tracker/test', {})).body.tools
    assert.is(again.find(({ tool }: { tool: string }) => tool === 'echo').service, 'ask')
    assert.is(http.received.at(-1)!.authorization, 'Bearer hidden', 'what is left out stays')

    const elsewhere = await ask('PUT', 'tracker', { url: 'https://other.example/mcp' })
    assert.match(elsewhere.body.error, 'Another host does not get the headers')
    const bare = await ask('PUT', 'tracker', { url: 'https://other.example/mcp', headers: {}, timeout: null })
    assert.equal([bare.body.place, bare.body.headers, bare.body.timeout], ['other.example', [], null])
    for (const body of [{}, { url: 'ftp://a.example' }, { url: http.url, headers: { 'a b': 'x' } }])
      assert.is((await ask('PUT', 'new', body)).status, 400)
    assert.is((await ask('DELETE', 'tracker')).status, 200)
    assert.is((await ask('DELETE', 'tracker')).status, 404)
    const { entries } = (await call('GET', '/api/audit?action=mcp', { token })).body
    assert.equal(pluck(entries, 'action', 'subject').at(-1), ['mcp.set', 'tracker'])
    assert.not.match(JSON.stringify([added, bare, entries]), 'hidden')

    // A program runs on the machine: over HTTP none is added, changed or allowed, by no spelling.
    const { list } = await installation.app.toolServers()
    list.set('files', { command: 'true' })
    assert.is((await ask('PUT', 'shell', { command: 'sh', args: ['-c', 'id'] })).status, 400)
    for (const [place, body] of [
      ['files', { url: http.url }],
      ['files/decision', { tool: 'echo', pin, decision: 'always' }],
    ] as const)
      assert.match((await ask('PUT', place, body)).body.error, 'is a program')
    assert.is((await ask('PUT', 'files/decision', { tool: 'echo', pin: '', decision: 'never' })).status, 200)
    assert.equal(list.servers(), { files: { command: 'true', args: [] } })
  })
})

test.run()
