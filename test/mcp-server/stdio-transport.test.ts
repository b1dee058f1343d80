import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { createStdioTransport } from '../../src/mcp-server/stdio.ts'
import { yieldToEventLoop } from '../../src/process/event-loop-turns.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('MCP messages on stdin and stdout')

const request = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'tools/list' })
const answer = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} })

/** A transport that has started, with the ids of the requests that it took. */
async function opened() {
  const input = new PassThrough()
  const taken: unknown[] = []
  const transport = createStdioTransport(input, async () => {})
  transport.onmessage = (message) => void taken.push('id' in message ? message.id : undefined)
  await transport.start()
  return { input, taken, transport }
}

test('sixteen requests are answered at the same time, and a cancelled or answered one makes room', async () => {
  const { input, taken, transport } = await opened()
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }
  const other = { jsonrpc: '2.0', method: 'notifications/initialized', params: { requestId: 99 } }
  const requests = Array.from({ length: 18 }, (_, id) => request(id))
  input.write([...requests.slice(0, 15), cancelled, other].map((each) => `${JSON.stringify(each)}\n`).join(''))
  await yieldToEventLoop()
  input.write(
    requests
      .slice(15)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join(''),
  )
  await yieldToEventLoop()
  assert.is(taken.filter((id) => typeof id === 'number').length, 17)
  await transport.send(answer(0))
  assert.is(taken.at(-1), 17)
  await transport.close()
})

test('it ends at once where its input had ended before', async () => {
  const input = new PassThrough()
  input.destroy()
  await yieldToEventLoop()
  const transport = createStdioTransport(input, async () => {})
  let isClosed = false
  transport.onclose = () => {
    isClosed = true
  }
  await transport.start()
  assert.ok(isClosed)
})

test.run()
