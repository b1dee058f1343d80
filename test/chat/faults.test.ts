import * as assert from 'uvu/assert'
import { textOf } from '../../src/chat/protocol/messages.ts'
import { AppError } from '../../src/errors.ts'
import { until } from '../helpers/eventually.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { localRunner, openStandIn } from '../helpers/providers/fake-provider.ts'
import { faultServer, type faults } from '../helpers/providers/fault-server.ts'
import { suite } from '../helpers/suite.ts'

/** The expected outcome of a fault: `whole` and `streamed` name the target that answers, or in an array the class of the error. */
interface Expectation {
  /** Requests that the provider receives, for a whole answer and for a streamed one. */
  readonly tries: number | readonly [whole: number, streamed: number]
  /** The target that answers when a local runner is there; `broken` is a stream that ends in an error after it began. */
  readonly by: 'plugin' | 'local' | readonly ['plugin' | 'local', 'plugin' | 'local' | 'broken']
  /** The failure's class without fallback; undefined where the plugin answers in the end. */
  readonly class?: string
  /** The exit code without fallback, of a whole answer. */
  readonly exit?: number
  readonly text?: string
}

const expectations: Record<keyof typeof faults, Expectation> = {
  healthy: { tries: 1, by: 'plugin' },
  'rate limit with a wait': { tries: 2, by: 'plugin' },
  'rate limit with a long wait': { tries: 1, by: 'local', class: 'rate', exit: 75 },
  'rate limit without a wait': { tries: 2, by: 'plugin' },
  'server error once': { tries: 2, by: 'plugin' },
  'unavailable for good': { tries: 2, by: 'local', class: 'down', exit: 69 },
  overloaded: { tries: 2, by: 'local', class: 'down', exit: 69 },
  'bad key': { tries: 1, by: 'local', class: 'auth', exit: 77 },
  'no money': { tries: 1, by: 'local', class: 'quota', exit: 75 },
  gone: { tries: 1, by: 'local', class: 'retired', exit: 69 },
  'bad request': { tries: 1, by: 'local', class: 'request', exit: 65 },
  'too long': { tries: 1, by: 'local', class: 'context_length', exit: 65 },
  'policy refusal': { tries: 1, by: 'local', class: 'policy', exit: 65 },
  'unknown model': { tries: 1, by: 'local', class: 'model_gone', exit: 67 },
  reset: { tries: 2, by: 'local', class: 'down', exit: 69 },
  'silence before headers': { tries: 1, by: 'local', class: 'down', exit: 75 },
  'slow first token': { tries: 1, by: 'plugin' },
  'silence after the first chunk': { tries: 1, by: ['plugin', 'broken'] },
  'cut in the middle': { tries: [2, 1], by: ['local', 'broken'], class: 'down' },
  'cut before content': { tries: 2, by: 'local', class: 'down' },
  'bad chunk': { tries: 1, by: ['local', 'broken'], class: 'protocol', exit: 76 },
  'no end marker': { tries: 1, by: ['local', 'broken'], class: 'protocol', exit: 76 },
  'error in a 200, as OpenRouter': { tries: 2, by: 'local', class: 'down', exit: 69 },
  'error in a 200, as Groq': { tries: 2, by: 'local', class: 'down', exit: 69 },
  'error event after content': { tries: [2, 1], by: ['local', 'broken'], class: 'down' },
  'leading blank lines': { tries: 1, by: 'plugin' },
  'split UTF-8': { tries: 1, by: 'plugin', text: 'Grüße, 世界 🌍' },
  'web page': { tries: 1, by: 'local', class: 'protocol', exit: 76 },
  'web page with an error status': { tries: 2, by: 'local', class: 'down', exit: 69 },
  redirect: { tries: 1, by: 'local', class: 'protocol', exit: 76 },
}

const key = 'sk-canary-0123456789'
const test = suite('a provider that fails')

for (const [name, expected] of Object.entries(expectations)) {
  const [whole, streamed] = typeof expected.by === 'string' ? [expected.by, expected.by] : expected.by
  const [wholeTries, streamedTries] =
    typeof expected.tries === 'number' ? [expected.tries, expected.tries] : expected.tries

  test(`${name}: a whole answer comes from the ${whole} after ${wholeTries} tries`, () =>
    withProvider(name, async ({ router, provider, runner }) => {
      const { reply, report } = await router.complete({ request: question })
      assert.is(provider.received.length, wholeTries)
      assert.is(report.fallback, whole === 'local')
      assert.is(
        textOf(reply.choices[0]!.message.content),
        whole === 'local' ? 'local answer' : (expected.text ?? 'Hello big wide world'),
      )
      assert.is(runner.received.filter(({ url }) => url === '/api/chat').length, whole === 'local' ? 1 : 0)
      const [attempt] = report.attempts
      assert.is(attempt!.tries, wholeTries)
      if (whole === 'local') assert.is(attempt!.class, expected.class)
      assert.not.match(JSON.stringify(report), key)
    }))

  test(`${name}: a streamed answer comes from the ${streamed} after ${streamedTries} tries`, () =>
    withProvider(name, async ({ router, provider, runner }) => {
      const { chunks, report } = await router.stream({ request: question })
      let text = ''
      let failure: unknown
      try {
        for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? ''
      } catch (reason) {
        failure = reason
      }
      assert.is(provider.received.length, streamedTries)
      assert.is(runner.received.filter(({ url }) => url === '/api/chat').length, streamed === 'local' ? 1 : 0)
      assert.is(report.fallback, streamed === 'local')
      if (streamed === 'broken') {
        assert.instance(failure, AppError)
        assert.is((failure as AppError).exit, 76)
        assert.ok(text.startsWith('Hello') && text.length < 'Hello big wide world'.length + 1, text)
      } else {
        assert.is(failure, undefined)
        assert.is(text, streamed === 'local' ? 'local answer' : (expected.text ?? 'Hello big wide world'))
      }
    }))

  if (expected.exit !== undefined) {
    test(`${name}: without fallback the caller gets the provider's own class of error and no other target is asked`, () =>
      withProvider(name, async ({ router, runner }) => {
        const failure = await router.complete({ request: question, fallback: false }).catch((reason: unknown) => reason)
        assert.instance(failure, AppError)
        assert.is((failure as AppError).exit, expected.exit)
        assert.not.match(`${(failure as AppError).message} ${(failure as AppError).details.join(' ')}`, key)
        assert.is(runner.received.length, 0)
      }))
  }
}

test('no local runner: the error is 503, the provider’s reason first, every try named, and the next step', () =>
  withProvider('unavailable for good', async ({ router, runner }) => {
    await runner.close()
    const failure = (await router.complete({ request: question }).catch((reason: unknown) => reason)) as AppError
    assert.equal([failure.status, failure.exit], [503, 69])
    assert.match(failure.message, /^custom failed: Down/)
    assert.match(failure.details[0]!, /custom custom-model: server error \(status 503, tried twice\)/)
    assert.match(failure.details.join('\n'), /OLLAMA_HOST/)
  }))

test('a redirect’s key goes nowhere: only the plugin’s own host ever sees it', () =>
  withProvider('redirect', async ({ router, provider, runner }) => {
    await router.complete({ request: question })
    assert.is(provider.received[0]!.headers['authorization'], `Bearer ${key}`)
    for (const request of runner.received) assert.not.match(JSON.stringify(request.headers), key)
  }))

test('the caller goes away: the provider’s request is cancelled and no other target is asked', () =>
  withProvider('silence after the first chunk', async ({ router, provider, runner }) => {
    const controller = new AbortController()
    const { chunks } = await router.stream({ request: question }, controller.signal)
    for await (const _ of chunks) {
      controller.abort()
      break
    }
    await until(() => provider.received[0]!.cancelled)
    assert.is(runner.received.length, 0)
  }))

test('the caller goes away before the first byte: cancelled as well', () =>
  withProvider('silence before headers', async ({ router, provider, runner }) => {
    const controller = new AbortController()
    const answer = router.complete({ request: question }, controller.signal).catch((reason: unknown) => reason)
    while (provider.received.length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    assert.instance(await answer, AppError)
    await until(() => provider.received[0]!.cancelled)
    assert.is(runner.received.length, 0)
  }))

test('a plugin that keeps failing is rested: after five failures it is not asked again', () =>
  withProvider('unavailable for good', async ({ router, provider }) => {
    for (let round = 0; round < 5; round++) await router.complete({ request: question })
    const before = provider.received.length
    const { report } = await router.complete({ request: question })
    assert.is(provider.received.length, before)
    assert.is(report.attempts[0]!.tries, 0)
    assert.match(report.attempts[0]!.error!, /not tried/)
  }))

test('a retired service is not asked twice', () =>
  withProvider('gone', async ({ router, provider }) => {
    for (let round = 0; round < 3; round++) await router.complete({ request: question })
    assert.is(provider.received.length, 1)
  }))

test('the plugin’s own fallback list comes before the local runner', () =>
  withProvider('unavailable for good', async ({ app, router, provider, runner }) => {
    await app.plugins.install(pluginAt(`${provider.url}/healthy`, { id: 'second', model_map: ['other'] }))
    await app.plugins.install(
      pluginAt(`${provider.url}/overloaded`, { fallback: ['second:other'], retry: { budget_ms: 100 } }),
      { replace: true },
    )
    const { report } = await router.complete({ request: question })
    assert.equal([report.plugin, report.model], ['second', 'other'])
    assert.equal(runner.received.length, 0)
  }))

test.run()

const question = { messages: [{ role: 'user' as const, content: 'Hello?' }] }

async function withProvider(
  fault: string,
  run: (parts: {
    app: ReturnType<typeof openInstallation>['app']
    router: Awaited<ReturnType<ReturnType<typeof openInstallation>['app']['chat']>>['router']
    provider: Awaited<ReturnType<typeof openStandIn>>
    runner: Awaited<ReturnType<typeof openStandIn>>
  }) => Promise<void>,
): Promise<void> {
  const provider = await openStandIn(faultServer())
  const runner = await openStandIn(localRunner())
  const installation = openInstallation({ CUSTOM_API_KEY: key, OLLAMA_HOST: runner.url }, { retry: 1 })
  try {
    const { app } = installation
    await app.plugins.install(
      pluginAt(`${provider.url}/${encodeURIComponent(fault)}`, {
        // Short where the provider stays silent for good, and otherwise longer than a slow machine needs.
        timeouts: /^silence/.test(fault)
          ? { connect: 10_000, first_byte: 1000, idle: 1000, total: 20_000 }
          : { connect: 10_000, first_byte: 10_000, idle: 10_000, total: 20_000 },
        retry: { attempts: 2, budget_ms: 2_000 },
      }),
    )
    await app.plugins.activate('custom')
    const { router } = await app.chat()
    await run({ app, router, provider, runner })
  } finally {
    await installation.close()
    await provider.close()
    await runner.close().catch(() => {})
  }
}
