import type { Waits } from '../../../src/app/waits.ts'
import type { Caller } from '../../../src/operations/operation.ts'
import { closing } from '../disposal.ts'
import { type Answer, openStandIn, type StandIn } from '../providers/fake-provider.ts'
import { type Answered, callApi } from './daemon.ts'
import { type Installation, openInstallation, pluginAt } from './installation.ts'

/** Asks the API in the name of a user. */
export type As = (method: string, path: string, body?: unknown) => Promise<Answered>

/**
 * The API with two users, an administrator and another, a fake provider and a fake local runner. The caller is taken
 * from the request as it comes: hashing passwords would take longer than most tests.
 */
export interface UserDaemon {
  readonly installation: Installation
  readonly url: string
  readonly ada: As
  readonly bob: As
  /** Asks with headers of one's own and reads a stream whole. */
  readonly stream: (user: 'ada' | 'bob', body: unknown) => Promise<string>
  /** The active plugin's endpoint. */
  readonly provider: StandIn
  /** The fake runner at OLLAMA_HOST. */
  readonly runner: StandIn
  /** Creates a persona of ada's and gives back its path. */
  persona(more?: Record<string, unknown>): Promise<string>
}

export interface UserDaemonParts {
  /** How the provider answers; without one no plugin is active. */
  readonly provider?: Answer
  /** How the local runner answers; without one there is none. */
  readonly runner?: Answer
  readonly plugin?: Record<string, unknown>
  readonly environment?: Record<string, string>
  readonly waits?: Waits
}

const callers: Record<string, Caller> = {
  ada: { id: 'ada-1', username: 'ada', role: 'admin' },
  bob: { id: 'bob-2', username: 'bob', role: 'user' },
}

const nobody: Answer = (_request, response) => {
  response.destroy()
}

/** Does something with such a daemon and closes it. */
export async function withUsers(work: (all: UserDaemon) => Promise<void>, parts: UserDaemonParts = {}): Promise<void> {
  await using all = await openUsers(parts)
  await work(all)
}

export async function openUsers(parts: UserDaemonParts = {}): Promise<UserDaemon & AsyncDisposable> {
  const provider = await openStandIn(parts.provider ?? nobody)
  const runner = await openStandIn(parts.runner ?? nobody)
  const installation = openInstallation(
    { CUSTOM_API_KEY: 'sk-of-the-test', OLLAMA_HOST: runner.host, ...parts.environment },
    parts.waits,
  )
  const { plugins } = installation.app
  if (parts.provider) {
    await plugins.install(pluginAt(provider.url, parts.plugin))
    await plugins.activate('custom')
  }
  const url = await installation.serve(({ request }) => ({
    caller: callers[request.headers.authorization?.replace('Bearer ', '') ?? '']!,
  }))
  const call = callApi(url)
  const as =
    (token: string): As =>
    (method, path, body) =>
      call(method, path, { token, ...(body !== undefined && { body }) })
  return closing({
    installation,
    url,
    ada: as('ada'),
    bob: as('bob'),
    async stream(user: 'ada' | 'bob', body: unknown) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${user}` }
      const response = await fetch(`${url}/api/chat`, { method: 'POST', headers, body: JSON.stringify(body) })
      return response.text()
    },
    provider,
    runner,
    async persona(more = {}) {
      const { status, body } = await as('ada')('POST', '/api/personas', { name: 'Mia', model: 'm', ...more })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return `/api/personas/${body.id}`
    },
    async close() {
      await installation.close()
      await provider.close()
      await runner.close()
    },
  })
}
