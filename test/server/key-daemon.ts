import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { type CallApi, goodPassword, openDaemon, type TestDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'

/** A user of the daemon under test, with the token of a login. */
export type TestUser = { readonly id: string; readonly token: string }

/** The API with an administrator, a user, and two providers: `custom`, which is active and falls back to `second`. */
export interface KeyDaemon extends TestDaemon {
  readonly ada: TestUser
  readonly bob: TestUser
  readonly provider: StandIn
  readonly second: StandIn
  readonly runner: StandIn
  /** Makes a key of that user over HTTP, and gives back the answer. */
  key(user: TestUser, body?: object): Promise<{ readonly id: string; readonly secret: string; readonly last4: string }>
}

export interface KeyDaemonParts {
  readonly provider?: Answer
  readonly second?: Answer
  readonly runner?: Answer
  readonly environment?: Record<string, string>
}

const nobody: Answer = (_request, response) => {
  response.destroy()
}

/** Does something with such a daemon and closes it. */
export async function withKeyDaemon(
  work: (daemon: KeyDaemon) => Promise<void>,
  parts: KeyDaemonParts = {},
): Promise<void> {
  await using daemon = await openKeyDaemon(parts)
  await work(daemon)
}

export async function openKeyDaemon({
  provider = nobody,
  second = nobody,
  runner = nobody,
  environment = {},
}: KeyDaemonParts = {}): Promise<KeyDaemon & AsyncDisposable> {
  const standIns = [await openStandIn(provider), await openStandIn(second), await openStandIn(runner)] as const
  const [first, other, local] = standIns
  const daemon = await openDaemon({ CUSTOM_API_KEY: 'sk-test-123456', OLLAMA_HOST: local.host, ...environment })
  const { logins } = daemon.accounts
  const ada = userOf(await logins.register({ username: 'ada', password: goodPassword }, undefined))
  const bob = userOf(await logins.register({ username: 'bob', password: goodPassword }, undefined))
  const { plugins } = daemon.installation.app
  await plugins.install(pluginAt(other.url, { id: 'second', model_map: ['m-two', 'other'], retry: { attempts: 1 } }))
  const fallback = ['second:m-two']
  await plugins.install(pluginAt(first.url, { model_map: ['m-one', 'm-two'], fallback, retry: { attempts: 1 } }))
  await plugins.activate('custom')
  return closing({
    ...daemon,
    ada,
    bob,
    provider: first,
    second: other,
    runner: local,
    key: (user: TestUser, body = {}) => makeKey(daemon.call, user, body),
    async close() {
      await daemon.close()
      for (const standIn of standIns) await standIn.close()
    },
  })
}

async function makeKey(call: CallApi, { token }: TestUser, body: object) {
  const answer = await call('POST', '/api/keys', { token, body })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body as { readonly id: string; readonly secret: string; readonly last4: string }
}

function userOf({ token, user }: { readonly token: string; readonly user: { readonly id: string } }): TestUser {
  return { token, id: user.id }
}
