import { once } from 'node:events'
import { openApp } from '../app.ts'
import { AppError } from '../errors.ts'
import { localOwner } from '../operations/ask.ts'
import type { Settings } from '../settings.ts'
import { version } from '../version.ts'
import { createServer, type ServerState } from './app.ts'
import { openServer } from './listen.ts'
import { createLog, logFormat } from './log.ts'

export interface ServeOptions {
  readonly host?: string
  readonly port?: string
}

/** What a service needs of the process it runs in. */
export interface Surroundings {
  /** Aborted when the service is to stop. */
  readonly signal: AbortSignal
  readonly stderr: { write(text: string): unknown }
  readonly stderrIsTerminal: boolean
}

/** How long answers in flight may take after the service was asked to stop: milliseconds. */
const graceMs = 30_000

/** Runs the named servers until a signal; ends cleanly with what is in flight finished. */
export async function serve(
  around: Surroundings,
  settings: Settings,
  names: readonly string[],
  options: ServeOptions,
): Promise<void> {
  const unknown = names.filter((name) => name !== 'api')
  if (unknown.length > 0)
    throw new AppError('usage', `There is no server "${unknown[0]}"`, { details: ['There is: api'] })
  const port = options.port === undefined ? settings.listen.port : portOf(options.port)
  const listening = { host: options.host ?? settings.listen.host, port }
  const app = openApp({ ...settings, listen: listening })
  const log = createLog(settings.logLevel, logFormat(settings.environment, around.stderrIsTerminal), (line) =>
    around.stderr.write(line),
  )
  const state: ServerState = { phase: 'starting' }
  const handler = createServer({
    app,
    version: version(),
    state,
    identify: () => ({ caller: localOwner }),
    observe: ({ request, id }, route, status) =>
      log[route === '/health' || status < 400 ? 'debug' : 'info']('request', {
        request_id: id,
        method: request.method,
        route,
        status,
      }),
  })
  try {
    const server = await openServer(handler, listening.host, listening.port)
    state.phase = 'ready'
    around.stderr.write(`aichat ${version()} serves the API on ${server.url}\n`)
    if (!around.signal.aborted) await once(around.signal, 'abort')
    state.phase = 'draining'
    log.info('stopping: answers in flight are finished first')
    await server.close(graceMs)
  } finally {
    await app.close()
  }
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port
  throw new AppError('usage', `"${text}" is no port: give a number from 0 to 65535`)
}
