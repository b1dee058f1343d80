// Some with --all only: many processes.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { goodPassword, removeHome, type ServingDaemon, serveHere, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { openCollector } from './otlp-collector.ts'

const test = suite('traces and metrics over OTLP')

const traceId = '0af7651916cd43dd8448eb211c80319c'
const caller = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'rojo=00f067aa0ba902b7' }
const soon = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '200', OTEL_EXPORTER_OTLP_TIMEOUT: '20000' }
const chat = { model: 'custom-model', messages: [{ role: 'user', content: 'secret-of-the-prompt' }] }

for (const protocol of ['http/protobuf', 'http/json'])
  test(`a chat is a trace from its caller to its provider, without content (${protocol})`, async () => {
    const collector = await openCollector()
    const environment = {
      ...soon,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b, authorization=Bearer%20of-the-collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'front',
    }
    await withChats(plain, environment, async (daemon, provider, token) => {
      const { status } = await daemon.call('POST', '/v1/chat/completions', { token, body: chat, headers: caller })
      assert.is(status, 200)
      const asked = await collector.until(({ spans }) => spans.find(({ name }) => name === 'chat custom-model'))
      const request = await collector.until(({ spans }) => spans.find(({ id }) => id === asked.parent))
      assert.is(request.name, 'POST /v1/chat/completions')
      assert.is(request.trace, traceId)
      assert.is(request.parent, 'b7ad6b7169203331')
      assert.is(request.kind, 2, 'SERVER')
      assert.is(request.attributes['http.response.status_code'], 200)
      assert.is(request.attributes['http.route'], '/v1/chat/completions')
      assert.is(asked.trace, traceId)
      assert.is(asked.kind, 3, 'CLIENT')
      assert.equal(
        Object.fromEntries(Object.entries(asked.attributes).filter(([name]) => name.startsWith('gen_ai.'))),
        {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'custom',
          'gen_ai.request.model': 'custom-model',
          'gen_ai.response.id': 'chatcmpl-1',
          'gen_ai.response.model': 'fake',
          'gen_ai.response.finish_reasons': ['stop'],
          'gen_ai.usage.input_tokens': 5,
          'gen_ai.usage.output_tokens': 2,
        },
      )
      assert.is(asked.resource['service.name'], 'front')
      assert.is(asked.resource['deployment.environment.name'], 'test')
      const { headers } = provider.at(-1)!
      assert.is(headers['traceparent'], `00-${traceId}-${asked.id}-01`, 'the provider goes on with the trace')
      assert.is(headers['tracestate'], caller.tracestate)
      for (const { path, headers } of collector.requests) {
        assert.match(path, /^\/v1\/(?:traces|metrics)$/)
        assert.equal([headers['x-tenant'], headers.authorization], ['a b', 'Bearer of-the-collector'])
      }
      for (const secret of ['secret-of-the-prompt', 'Hello', token, 'sk-test-123456'])
        assert.not(
          collector.raw.some((text) => text.includes(secret)),
          secret,
        )
    })
    await collector.close()
  })

test.whole('each attempt, the search of memories and speech have spans of their own', async () => {
  const collector = await openCollector()
  const environment = { ...soon, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const answer: Answer = (request, response) => {
    if (request.url === '/down/v1/chat/completions') return json(response, 500, { error: { message: 'down' } })
    return plain(request, response)
  }
  await withChats(answer, environment, async (daemon, _provider, token, url) => {
    const down = { id: 'first', fallback: ['custom'], retry: { attempts: 2 } }
    const body = pluginAt(`${url}/down`, down)
    assert.is((await daemon.call('POST', '/api/plugins/install', { token, body })).status, 201)
    const persona = { name: 'Mia', model: 'custom-model', memory_settings: { enabled: true } }
    const { id } = (await daemon.call('POST', '/api/personas', { token, body: persona })).body
    const memory = { content: 'The cat is called Minka', importance_score: 0.9 }
    assert.is((await daemon.call('POST', `/api/personas/${id}/memory`, { token, body: memory })).status, 201)
    const messages = [{ role: 'user', content: 'What is the cat called?' }]
    const asked = { plugin: 'first', persona: id, messages, stream: true }
    assert.is((await daemon.call('POST', '/api/chat', { token, body: asked })).status, 200)
    assert.is((await daemon.call('POST', '/api/speech', { token, body: { input: 'Hello there' } })).status, 200)
    const speech = await collector.until(({ spans }) => spans.find(({ name }) => name === 'speech'))
    assert.is(speech.attributes['gen_ai.operation.name'], 'speech')
    const request = await collector.until(({ spans }) => spans.find(({ name }) => name === 'POST /api/chat'))
    const parts = collector.spans.filter(({ parent }) => parent === request.id)
    assert.equal(parts.map(({ name }) => name).sort(), ['chat custom-model', 'chat custom-model', 'search_memory'])
    const failed = parts.find(({ error }) => error)!
    assert.equal([failed.attributes['aichat.plugin'], failed.attributes['error.type']], ['first', 'down'])
    assert.is(failed.attributes['http.request.resend_count'], 1)
    const answered = parts.find(({ attributes }) => attributes['aichat.plugin'] === 'custom')!
    assert.is(answered.attributes['gen_ai.request.stream'], true)
    assert.type(answered.attributes['gen_ai.response.time_to_first_chunk'], 'number')
    assert.not.match(collector.raw.join(), /Minka|cat called|Hello there/)
  })
  await collector.close()
})

test('metrics have the names of the conventions, and are the counts that Prometheus reads', async () => {
  const collector = await openCollector()
  const environment = { ...soon, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }
  await withChats(plain, environment, async (daemon, _provider, token) => {
    await daemon.call('POST', '/v1/chat/completions', { token, body: chat })
    const input = await collector.until(({ metrics }) =>
      metrics.find(({ name }) => name === 'gen_ai.client.inference.usage.input_tokens'),
    )
    assert.equal([input.type, input.unit], ['sum', '{token}'])
    assert.equal(input.points[0]!.attributes, {
      'gen_ai.provider.name': 'custom',
      'gen_ai.request.model': 'custom-model',
      'gen_ai.token.modality': 'text',
    })
    assert.is(input.points[0]!.value, 5)
    const duration = collector.metrics.find(({ name }) => name === 'gen_ai.client.inference.duration')!
    assert.equal([duration.type, duration.points[0]!.count], ['histogram', 1])
    assert.is(duration.points[0]!.bucketCounts!.length, duration.points[0]!.explicitBounds!.length + 1)
    assert.ok(collector.metrics.some(({ name, type }) => name === 'aichat_http_requests_in_flight' && type === 'gauge'))
    assert.ok(collector.requests.every(({ headers }) => headers['content-encoding'] === 'gzip'))
  })
  await collector.close()
})

test.whole('a collector that hangs, refuses or is not there costs no chat, and the service ends', async () => {
  const sockets = new Set<Socket>()
  const hanging = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const refusing = await openCollector((response) => {
    response.writeHead(503, { 'retry-after': '60' }).end('go away')
    return true
  })
  const { port } = hanging.address() as { port: number }
  // Each of them ends at the end of the service's own time: all three at once.
  const tried = [`http://127.0.0.1:${port}`, refusing.url, 'http://127.0.0.1:9'].map(async (url) => {
    const environment = { ...soon, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' }
    let stderr = ''
    await withChats(plain, environment, async (daemon, _provider, token) => {
      for (let at = 0; at < 20; at++)
        assert.is((await daemon.call('POST', '/v1/chat/completions', { token, body: chat })).status, 200)
      assert.is(await daemon.stop(), 0)
      stderr = daemon.output.stderr
    })
    assert.not.match(stderr, /go away/)
  })
  await Promise.all(tried)
  assert.ok(sockets.size > 0)
  for (const socket of sockets) socket.destroy()
  hanging.close()
  await refusing.close()
})

test('what waits at SIGTERM is sent before the service ends; one that fails is told once', async () => {
  const collector = await openCollector((response, count) => {
    if (count > 2) return false
    response.writeHead(400).end()
    return true
  })
  const environment = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  }
  await withChats(plain, environment, async (daemon, _provider, token) => {
    for (const refused of [1, 2]) {
      await daemon.call('GET', '/api/plugins', { token })
      await collector.until(({ requests }) => (requests.length >= refused ? true : undefined))
    }
    await daemon.call('POST', '/v1/chat/completions', { token, body: chat })
    assert.is(await daemon.stop(), 0)
    assert.ok(collector.spans.some(({ name }) => name === 'chat custom-model'))
    assert.is(daemon.output.stderr.split('Traces cannot be sent').length, 2, daemon.output.stderr)
    assert.match(
      daemon.output.stderr,
      /"level":"warn","msg":"Traces cannot be sent; chats go on".*"reason":"status 400"/,
    )
  })
  await collector.close()
})

test('a share of the traces is kept where a ratio says so, and none of a caller that keeps none', async () => {
  const collector = await openCollector()
  const environment = {
    ...soon,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  }
  await withChats(plain, environment, async (daemon, provider, token) => {
    const unsampled = { traceparent: `00-${traceId}-b7ad6b7169203331-00` }
    await daemon.call('POST', '/v1/chat/completions', { token, body: chat, headers: unsampled })
    assert.match(provider.at(-1)!.headers['traceparent']!.toString(), new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
    await daemon.call('POST', '/v1/chat/completions', { token, body: chat })
    await daemon.call('POST', '/v1/chat/completions', { token, body: chat, headers: caller })
    await daemon.stop()
    assert.equal([...new Set(collector.spans.map(({ trace }) => trace))], [traceId])
  })
  await collector.close()
})

test('settings that make no sense are told at the start, without their values, and end nothing', async () => {
  const collector = await openCollector()
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector-with-key:4317',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret-without-name,bad name=secret-too',
    OTEL_BSP_SCHEDULE_DELAY: 'soon',
    OTEL_TRACES_SAMPLER: 'sometimes',
  }
  await withChats(plain, environment, async (daemon, _provider, token) => {
    assert.is((await daemon.call('POST', '/v1/chat/completions', { token, body: chat })).status, 200)
    const { stderr } = daemon.output
    for (const name of ['OTLP_ENDPOINT', 'OTLP_PROTOCOL', 'OTLP_HEADERS', 'BSP_SCHEDULE_DELAY', 'TRACES_SAMPLER'])
      assert.match(stderr, new RegExp(`"level":"warn","msg":"OTEL_\\w*${name}`))
    assert.not.match(stderr, /collector-with-key|secret-/)
  })
  await collector.close()
})

test.whole('without a collector nothing that sends to one is loaded', async () => {
  const bundle = fileURLToPath(new URL('./dist/bundle/', import.meta.resolve('#package')))
  const exporters = readdirSync(bundle)
    .filter((name) => name.endsWith('.js'))
    .filter((name) => readFileSync(join(bundle, name), 'utf8').includes('ProtobufTraceSerializer'))
  const collector = await openCollector()
  for (const [environment, isLoaded] of [
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, true],
  ] as const) {
    // NODE_DEBUG=esm names every module that is loaded.
    const daemon = await spawnDaemon({ NODE_DEBUG: 'esm', ...environment })
    await daemon.call('GET', '/metrics')
    assert.is(await daemon.stop(), 0)
    assert.match(daemon.output.stderr, /node_modules\/better-sqlite3\//)
    assert.is(
      exporters.some((name) => daemon.output.stderr.includes(name)),
      isLoaded,
    )
    removeHome(daemon)
  }
  await collector.close()
})

test.run()

function plain(request: Parameters<Answer>[0], response: Parameters<Answer>[1]): void {
  if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Hel', 'lo']).join(''))
}

/** A daemon with an administrator and an active plugin, and the requests that its provider got. */
async function withChats(
  answer: Answer,
  environment: Record<string, string>,
  work: (
    daemon: ServingDaemon,
    provider: Awaited<ReturnType<typeof openStandIn>>['received'],
    token: string,
    url: string,
  ) => Promise<void>,
): Promise<void> {
  await using provider = await openStandIn(answer)
  await using daemon = await serveHere({ CUSTOM_API_KEY: 'sk-test-123456', ...environment })
  const { body } = await daemon.call('POST', '/api/auth/register', {
    body: { username: 'ada', password: goodPassword },
  })
  const { token } = body
  await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
  await daemon.call('POST', '/api/plugins/activate/custom', { token })
  await work(daemon, provider.received, token, provider.url)
}
