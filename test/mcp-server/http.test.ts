import * as assert from 'uvu/assert'
import { answerMessage } from '../../src/mcp-server/http.ts'
import type { Seat } from '../../src/mcp-server/seat.ts'
import { suite } from '../helpers/suite.ts'

const test = suite("messages to a persona's memory")

const seat: Seat = {
  ask: async () => ({}) as never,
  persona: { id: '1', name: 'Mia' },
  hasPrompt: false,
  readOnly: true,
}
const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'desk', version: '1' } }

/** A message, the status of its answer, and whether the answer names a session. */
const rows: readonly (readonly [method: string, params: object, status: number, hasSession: boolean])[] = [
  ['initialize', initialize, 200, true],
  ['initialize', { ...initialize, clientInfo: null }, 200, false],
  ['ping', initialize, 200, false],
]

for (const [method, params, status, hasSession] of rows)
  test(`${method} ${JSON.stringify(params).slice(0, 90)} gets ${hasSession ? 'a' : 'no'} session`, async () => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers })
    const response = await answerMessage(seat, { request, body })
    await response.text()
    const session = hasSession ? `c-${Buffer.from('desk').toString('base64url')}` : null
    assert.equal([response.status, response.headers.get('mcp-session-id')], [status, session])
  })

test.run()
