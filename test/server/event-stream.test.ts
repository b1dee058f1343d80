import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { withLibraries } from '../helpers/program/client-libraries.ts'
import { completionEvents } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the events of a stream on their way')

for (const [name, words] of Object.entries({ ASCII: ['Hel', 'lo'], 'more than ASCII': ['Grüß', ' Gott 👋'] }))
  test(`a stream that the provider sent whole goes out as it came, as one answer of a known length: ${name}`, () => {
    const events = completionEvents(words).join('')
    return withLibraries(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events),
      async ({ url }) => {
        const answer = await ask(url)
        assert.match(answer.headers.get('content-type')!, 'text/event-stream')
        assert.is(answer.headers.get('content-length'), String(Buffer.byteLength(events)))
        assert.is(await answer.text(), events)
      },
    )
  })

test('the first pieces of a stream are there before the provider sends the next ones', () => {
  const [role, hel, lo, end, done] = completionEvents(['Hel', 'lö'])
  const open: ServerResponse[] = []
  const answers = (_request: unknown, response: ServerResponse) => {
    open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(`${role}${hel}`)
  }
  return withLibraries(answers, async ({ url }) => {
    const answer = await ask(url)
    assert.is(answer.headers.get('content-length'), null)
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const upTo = async (part: string) => {
      while (!text.includes(part)) text += (await reader.read()).value
    }
    await upTo(hel!)
    open[0]!.write(lo)
    await upTo(lo!)
    // The provider's own end, and the rest of its body later: nothing more counts.
    open[0]!.write(`${end}${done}`)
    await upTo(done!)
    assert.is((await reader.read()).done, true)
    assert.is(text, `${role}${hel}${lo}${end}${done}`)
    const closed = once(open[0]!, 'close')
    open[0]!.end()
    await closed
  })
})

test.run()

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ours' },
    body: JSON.stringify({ model: 'custom-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  })
}
