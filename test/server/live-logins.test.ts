import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { goodPassword, type TestDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completionEvents, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('open streams and their logins')

/** Everything that ends a login while its answer is being streamed. */
const endings: readonly (readonly [string, (daemon: TestDaemon, user: string, token: string) => Promise<unknown>])[] = [
  ['logout', ({ call }, _, token) => call('POST', '/api/auth/logout', { token })],
  [
    'a new password',
    ({ call }, _, token) =>
      call('POST', '/api/auth/change-password', {
        token,
        body: { current_password: goodPassword, new_password: 'N3wpassword' },
      }),
  ],
  [
    'a reset',
    async ({ accounts }, user) => accounts.logins.resetPassword(await accounts.users.get(user), 'N3wpassword'),
  ],
  ['another role', async ({ accounts }, user) => accounts.users.update(user, { role: 'admin' })],
  ['removal', async ({ accounts }, user) => accounts.users.remove(user)],
  ['another process', (daemon, user) => removeElsewhere(daemon, user)],
]

for (const [what, end] of endings) {
  test(`${what} ends a stream, with an error and not as if it were whole, and stops the provider`, () =>
    withStream('/api/chat', {}, async (daemon, stream, user, token) => {
      await end(daemon, user, token)
      const text = await stream.rest()
      assert.match(text, /event: error\ndata: .*The login has ended/)
      assert.not.match(text, /\[DONE\]/)
      await until(() => stream.provider.received[0]!.cancelled)
    }))
}

test.run()

interface OpenStream {
  readonly provider: StandIn
  /** The rest after the first piece. */
  rest(): Promise<string>
  /** Lets the provider end as it should. */
  finish(): void
}

/** A user's stream of which the first piece has arrived and the rest is being waited for. */
async function withStream(
  path: string,
  more: object,
  work: (daemon: TestDaemon, stream: OpenStream, user: string, token: string) => Promise<void>,
): Promise<void> {
  const [first, second, ...rest] = completionEvents(['one ', 'two'])
  let waiting: ServerResponse | undefined
  await using provider = await openStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`${first}${second}`)
    waiting = response
  })
  await withDaemon(
    async (daemon) => {
      const admin = await daemon.register('admin')
      const { token, user } = await daemon.register('ada')
      await daemon.call('POST', '/api/plugins/install', { token: admin.token, body: pluginAt(provider.url) })
      await daemon.call('POST', '/api/plugins/activate/custom', { token: admin.token })
      const response = await fetch(`${daemon.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({
          model: 'custom-model',
          messages: [{ role: 'user', content: 'Hi' }],
          stream: true,
          ...more,
        }),
      })
      assert.is(response.status, 200)
      const reader = response.body!.getReader()
      await reader.read()
      await work(
        daemon,
        {
          provider,
          finish: () => void waiting?.end(rest.join('')),
          async rest() {
            let text = ''
            for (let piece = await reader.read(); !piece.done; piece = await reader.read())
              text += Buffer.from(piece.value).toString('utf8')
            return text
          },
        },
        user.id,
        token,
      )
    },
    { CUSTOM_API_KEY: 'sk-test-123456' },
  )
}

/** Removes the user over a connection to the database that the daemon knows nothing of. */
async function removeElsewhere({ home }: TestDaemon, user: string): Promise<void> {
  const storage = await openStorageIn(home)
  assert.is(await storage.accounts.remove(user), 'removed')
  await storage.close()
}
