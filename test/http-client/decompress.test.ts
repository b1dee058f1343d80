// Some with --all only: a whole sample.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { completion, completionEvents, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('answers that come packed')

const packers: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  'gzip, br': (text) => brotliCompressSync(gzipSync(text)),
  identity: Buffer.from,
}

async function asked(
  coding: string,
  body: (streamed: boolean) => Buffer,
  { stream = false, status = 200 } = {},
): Promise<string> {
  const provider = await openStandIn(({ body: sent }, response) => {
    const streamed = JSON.parse(sent).stream === true
    const type = streamed ? 'text/event-stream' : 'application/json'
    const bytes = body(streamed)
    response.writeHead(status, { 'content-type': type, 'content-encoding': coding })
    // In two pieces, so that neither half can be unpacked alone.
    response.write(bytes.subarray(0, bytes.length >> 1))
    setImmediate(() => response.end(bytes.subarray(bytes.length >> 1)))
  })
  const installation = openInstallation({ CUSTOM_API_KEY: 'key' })
  try {
    await installation.app.plugins.install(pluginAt(provider.url, { retry: { attempts: 1 } }))
    const { router } = await installation.app.chat()
    const call = {
      request: { messages: [{ role: 'user' as const, content: 'hi' }] },
      plugin: 'custom',
      fallback: false,
    }
    if (!stream) return String((await router.complete(call)).reply.choices[0]?.message.content)
    let text = ''
    for await (const chunk of (await router.stream(call)).chunks) text += chunk.choices[0]?.delta.content ?? ''
    return text
  } catch (error) {
    assert.instance(error, AppError)
    return `${(error as AppError).code}: ${(error as AppError).message}`
  } finally {
    await installation.close()
    await provider.close()
  }
}

const whole = JSON.stringify(completion('grüß dich'))
const events = completionEvents(['grüß', ' ', 'dich']).join('')

for (const [coding, pack] of Object.entries(packers)) {
  test(`${coding} is unpacked, whole and streamed`, async () => {
    assert.is(await asked(coding, () => pack(whole)), 'grüß dich')
    assert.is(await asked(coding, () => pack(events), { stream: true }), 'grüß dich')
  })
}

test('a refusal that comes packed is told in its own words', async () => {
  const refusal = JSON.stringify({ error: { message: 'no such thing', type: 'invalid_request_error' } })
  assert.match(await asked('gzip', () => gzipSync(refusal), { status: 400 }), /^invalid: .*no such thing/)
})

test('an unknown coding, and data in another coding than declared, are errors', async () => {
  assert.match(await asked('zst9', () => Buffer.from(whole)), /packed as zst9, which cannot be unpacked/)
  assert.match(await asked('gzip', () => Buffer.from(whole)), /incorrect header check/)
  assert.match(await asked('gzip', () => gzipSync(whole).subarray(0, -20)), /unexpected end of file/)
  assert.match(await asked('gzip', () => gzipSync(events).subarray(0, -30), { stream: true }), /broke off|end of file/)
})

test.whole('data that unpacks to more than an answer may hold is cut', async () => {
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, 32))
  assert.match(await asked('gzip', () => bomb), /longer than 32768 KiB/)
})

test.run()
