import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CallApi,
  type CallOptions,
  callApi,
  goodPassword,
  removeHome,
  type ServingDaemon,
  type SpawnedDaemon,
  serveHere,
  spawnDaemon,
} from '../program/daemon.ts'
import { pluginAt } from '../program/installation.ts'
import { type Answer, openStandIn, type StandIn } from '../providers/fake-provider.ts'
import { faultServer } from '../providers/fault-server.ts'
import { openBalancer } from './balancer.ts'

/** Several `aichat serve api` on one database, each with a data folder of its own, behind a balancer. */
export interface Instances<D extends ServingDaemon | SpawnedDaemon = ServingDaemon> {
  /** One that was started again takes the place of the one before. */
  readonly all: readonly D[]
  /** The balancer's. */
  readonly url: string
  /** Asks through the balancer. */
  readonly call: CallApi
  readonly provider: StandIn
  /** Creates the administrator `admin` and activates the provider's plugin at the first one; resolves with a token. */
  setUp(): Promise<string>
  /** Starts one again in its data folder after it was stopped. */
  restart(index: number): Promise<D>
  close(): Promise<void>
}

export interface InstancesOptions {
  readonly count?: number
  readonly environment?: Readonly<Record<string, string>>
  /** The provider's answer; three words unless given. */
  readonly answer?: Answer
}

/** The secret that instances of one database share. */
const secret = 'a secret of the tests that all instances share'

type Start<D> = (environment: Record<string, string>, home: string) => Promise<D>

/** Starts them at once, in this process; ends those that did start and throws where one does not. */
export function openInstances(databaseUrl: string, options: InstancesOptions = {}): Promise<Instances> {
  return openAll(databaseUrl, options, serveHere)
}

/** The same with a process each, for tests that kill one. */
export function spawnInstances(databaseUrl: string, options: InstancesOptions = {}): Promise<Instances<SpawnedDaemon>> {
  return openAll(databaseUrl, options, spawnDaemon)
}

async function openAll<D extends ServingDaemon | SpawnedDaemon>(
  databaseUrl: string,
  { count = 3, environment = {}, answer = faultServer() }: InstancesOptions,
  open: Start<D>,
): Promise<Instances<D>> {
  const provider = await openStandIn(answer)
  const start = (home: string) =>
    open({ DATABASE_URL: databaseUrl, JWT_SECRET: secret, CUSTOM_API_KEY: 'key', ...environment }, home)
  const homes = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'aichat-instance-')))
  const started = await Promise.allSettled(homes.map(start))
  const all = started.filter((one) => one.status === 'fulfilled').map(({ value }) => value as D)
  const balancer = await openBalancer(() => all.map(({ url }) => url))
  const instances: Instances<D> = {
    all,
    url: balancer.url,
    call: callApi(balancer.url),
    provider,
    async setUp() {
      const ask = async (path: string, options: CallOptions) => {
        // The balancer is not the machine of an instance: the first administrator is created on it.
        const { status, body } = await all[0]!.call('POST', path, options)
        if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
        return body
      }
      const { token } = await ask('/api/auth/register', { body: { username: 'admin', password: goodPassword } })
      await ask('/api/plugins/install', { token, body: pluginAt(`${provider.url}/healthy`) })
      await ask('/api/plugins/activate/custom', { token })
      return token
    },
    async restart(index) {
      const restarted = await start(homes[index]!)
      all[index] = restarted
      return restarted
    },
    async close() {
      await Promise.all(all.map(end))
      await balancer.close()
      await provider.close()
      for (const home of homes) removeHome({ home })
    },
  }
  const failed = started.find((one) => one.status === 'rejected')
  if (failed) {
    await instances.close()
    throw failed.reason
  }
  return instances
}

async function end(daemon: ServingDaemon | SpawnedDaemon): Promise<void> {
  if (!('child' in daemon)) await daemon.stop()
  else if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.stop('SIGKILL')
}
