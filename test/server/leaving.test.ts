import { once } from 'node:events'
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('clients that go away')

for (const stream of [false, true]) {
  test(`on a connection that answered before, the provider’s call ends with the client’s${stream ? ', streamed' : ''}`, async () => {
    let arrived = () => {}
    let cancelled = () => {}
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const cancel = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    // Answers requests that contain "quick"; leaves all others open.
    const provider = await openStandIn(({ body }, response) => {
      if (body.includes('quick')) return json(response, 200, completion('Hello', 'custom-model'))
      response.once('close', cancelled)
      arrived()
    })
    const installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      await installation.app.plugins.install(pluginAt(provider.url))
      await installation.app.plugins.activate('custom')
      const url = await installation.serve()
      for (let round = 0; round < 3; round++) assert.is(await quickStatus(ask(agent, url, 'quick', false)), 200)
      const slow = ask(agent, url, 'slow', stream)
      await arrival
      assert.ok(slow.reusedSocket)
      slow.destroy()
      await cancel
      assert.is(await quickStatus(ask(agent, url, 'quick', false)), 200)
    } finally {
      agent.destroy()
      await installation.close()
      await provider.close()
    }
  })
}

test.run()

function ask(agent: Agent, url: string, content: string, stream: boolean): ClientRequest {
  const headers = { 'content-type': 'application/json' }
  const request = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', agent, headers })
  request.on('error', () => {})
  request.end(JSON.stringify({ model: 'custom-model', stream, messages: [{ role: 'user', content }] }))
  return request
}

async function quickStatus(request: ClientRequest): Promise<number | undefined> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode
}
