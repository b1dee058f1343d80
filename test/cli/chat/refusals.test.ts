import * as assert from 'uvu/assert'
import { openRemote } from '../../../src/cli/remote/client.ts'
import type { AppError } from '../../../src/errors.ts'
import { chat } from '../../../src/operations/chat.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { type Answer, completionEvents, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a provider’s refusal on the command line')

const error = (message: string, code: string | null, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
})

const refusals: readonly {
  readonly status: number
  readonly body: unknown
  readonly exit: number
  readonly code: string
  readonly shown: string
}[] = [
  {
    status: 400,
    body: error('Too long', 'context_length_exceeded'),
    exit: 65,
    code: 'invalid',
    shown: 'context_length_exceeded',
  },
  {
    status: 404,
    body: error('No such model', 'model_not_found'),
    exit: 67,
    code: 'not_found',
    shown: 'model_not_found',
  },
  { status: 413, body: error('Too large', null), exit: 65, code: 'too_large', shown: 'too_large' },
  { status: 422, body: error('Not so', 'odd'), exit: 65, code: 'unprocessable', shown: 'odd' },
  {
    status: 429,
    body: error('Slow down', 'rate_limit_exceeded'),
    exit: 75,
    code: 'rate_limited',
    shown: 'rate_limit_exceeded',
  },
  { status: 401, body: error('Bad key', 'invalid_api_key'), exit: 77, code: 'provider_auth', shown: 'provider_auth' },
  { status: 500, body: error('Oops', null), exit: 69, code: 'unavailable', shown: 'unavailable' },
]

for (const { status, body, exit, code, shown } of refusals)
  test(`${status} has the exit code ${exit}, in this process and from a daemon`, () =>
    withDaemon(
      (_request, response) => json(response, status, body),
      async ({ ask }) => {
        for (const failure of [await ask('here'), await ask('daemon')])
          assert.equal([failure.exit, failure.code, failure.shownCode], [exit, code, shown])
      },
    ))

test('a stream that breaks off is `protocol`, under any code of the provider', () => {
  let heard = () => {}
  const gate = new Promise<void>((resolve) => {
    heard = resolve
  })
  return withDaemon(
    async (_request, response) => {
      const [begin, words] = completionEvents(['Hello'])
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`${begin}${words}`)
      await gate
      response.end(`data: ${JSON.stringify(error('Oops', 'timeout'))}\n\n`)
    },
    async ({ stream }) => {
      const failure = await stream(heard)
      assert.equal([failure.code, failure.exit, failure.shownCode], ['protocol', 76, 'timeout'])
    },
  )
})

test.run()

interface Asking {
  ask(where: 'here' | 'daemon'): Promise<AppError>
  /** The failure in a stream from the daemon; says when its first piece is there. */
  stream(heard: () => void): Promise<AppError>
}

async function withDaemon(answer: Answer, run: (asking: Asking) => Promise<void>): Promise<void> {
  await using provider = await openStandIn(answer)
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456' })
  const { app } = installation
  const input = { messages: [{ role: 'user' as const, content: 'Hi' }] }
  const { askInProcess, localOwner } = await import('../../../src/operations/ask.ts')
  await app.plugins.install(pluginAt(provider.url, { retry: { attempts: 1 } }))
  await app.plugins.activate('custom')
  const remote = openRemote({ server: await installation.serve(), token: undefined, insecure: false })
  const failed = async (work: Promise<unknown>) => {
    try {
      await work
    } catch (reason) {
      return reason as AppError
    }
    throw new Error('it did not fail')
  }
  await run({
    ask: (where) => failed(where === 'here' ? askInProcess(app, localOwner).ask(chat, input) : remote.ask(chat, input)),
    stream: (heard) =>
      failed(
        (async () => {
          for await (const _ of await remote.askStream(chat, { ...input, stream: true })) heard()
        })(),
      ),
  })
}
