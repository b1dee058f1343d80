import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { runningServices, type ServiceRecord } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import type { Settings } from '../../settings/settings.ts'

/** The unit that `aichat service unit` writes. */
export const unitName = 'aichat.service'

/** How long a service may take for a reload: milliseconds. */
const waitMs = 15_000

/** The services on the data folder of these settings. */
export function localServices({ paths }: Settings): readonly ServiceRecord[] {
  return runningServices(paths.state)
}

/**
 * Has a service of this machine reload by SIGHUP; resolves with its record once it has written the outcome. Throws `forbidden`
 * for a service of another user, `unavailable` for one that a terminal would end or that is still starting, and `timeout`.
 */
export async function reloadBySignal(settings: Settings, service: ServiceRecord): Promise<ServiceRecord> {
  if (service.phase === 'starting')
    throw new AppError('unavailable', `The service ${service.pid} is still starting: try again once it is ready`)
  if (!service.reloads_on_hangup)
    throw new AppError('unavailable', `The service ${service.pid} belongs to a terminal: SIGHUP would end it`, {
      details: [`Log in and ask it: aichat --server ${service.servers[0]?.url ?? 'URL'} service reload`],
    })
  const find = () => localServices(settings).find(({ pid }) => pid === service.pid)
  let watcher: FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      const look = () => {
        const now = find()
        if (!now) reject(new AppError('unavailable', `The service ${service.pid} has ended`))
        else if (now.reloads > service.reloads) resolve(now)
      }
      watcher = watch(join(settings.paths.state, 'services'), look)
      timer = setTimeout(() => {
        reject(new AppError('timeout', `The service ${service.pid} did not say how its reload went`))
      }, waitMs)
      process.kill(service.pid, 'SIGHUP')
    })
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code === 'ESRCH') throw new AppError('unavailable', `The service ${service.pid} has ended`)
    if (code !== 'EPERM') throw reason
    throw new AppError('forbidden', `The service ${service.pid} belongs to another user`, {
      details: [`Run this as that user, or: systemctl reload ${unitName}`],
    })
  } finally {
    clearTimeout(timer)
    watcher?.close()
  }
}
