import { readProxies } from '../accounts/accounts.ts'
import type { App, Reloaded } from '../app/app.ts'
import { AppError } from '../errors.ts'
import type { Listening } from './listen.ts'
import type { Log } from './log.ts'
import type { Supervisor } from './supervisor.ts'
import { readTls } from './tls.ts'

/**
 * Has a service take over changed settings, secrets, plugins and its certificate, logs each outcome and keeps the last one in
 * its record. The returned function does it now, and never throws: the listener of SIGHUP.
 */
export function takeOverOn(
  app: App,
  log: Log,
  listening: readonly Listening[],
  { supervisor, status }: { readonly supervisor: Supervisor; readonly status: () => string },
): () => void {
  const { reloader, service, crew } = app
  if (!reloader) return () => {}
  prepareTakeOver(app, listening)
  // The workers take it over after this process, which reports it when all have.
  const after = (work: () => unknown) => void (crew ? crew.reloaded().then(work) : work())
  reloader.listeners.add((outcome) => {
    const report = outcome instanceof AppError ? refused(outcome) : takenOver(outcome)
    const isWhole = report.outcome === 'taken over'
    log[isWhole ? 'info' : 'error'](report.message, { details: report.details.join('; ') || undefined })
    if (!(outcome instanceof AppError)) for (const warning of outcome.warnings) log.warn(warning)
    const record = service && { reloads: service.current().reloads + 1, last_reload: { at: Date.now(), ...report } }
    after(() => record && service.update(record))
  })
  return () => {
    supervisor.reloading()
    try {
      reloader.reload()
    } catch {
      // The listener above has reported it.
    } finally {
      after(() => supervisor.ready(status()))
    }
  }
}

/** Has a reload check the proxies and the certificate of these servers, and take the certificate over. */
export function prepareTakeOver(
  { reloader }: Pick<App, 'reloader'>,
  listening: readonly Pick<Listening, 'replaceTls'>[],
): void {
  reloader?.parts.add(({ trustProxy }) => void readProxies(trustProxy))
  reloader?.parts.add(({ tls }) => {
    if (!tls) return undefined
    const pair = readTls(tls)
    return () => {
      for (const server of listening) server.replaceTls(pair)
    }
  })
}

function refused({ message, details }: AppError) {
  return { outcome: 'refused' as const, message, details: [...details] }
}

function takenOver({ changed, needs_restart, secrets, rejected_plugins }: Reloaded) {
  const list = (names: readonly string[], words: string) => (names.length > 0 ? [`${words}: ${names.join(', ')}`] : [])
  const details = [
    ...list(changed, 'changed'),
    ...list(secrets, 'other secrets'),
    ...list(needs_restart, 'taken over by a restart'),
    ...rejected_plugins.map(
      ({ id, problems }) => `invalid plugin "${id}", which is not taken over: ${problems.join('; ')}`,
    ),
  ]
  const isWhole = rejected_plugins.length === 0
  return {
    outcome: isWhole ? ('taken over' as const) : ('partly taken over' as const),
    message: isWhole ? 'settings, secrets and plugins are taken over' : 'a plugin was not taken over, the rest was',
    details,
  }
}
