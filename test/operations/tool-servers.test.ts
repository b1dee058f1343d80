import * as assert from 'uvu/assert'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
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
    assert.equal(works, { name: 'works', place: command, decisions: 1, connected: false, failure: null })
    assert.match(broken.failure.message, 'the program is not there')
  }))

test.run()
