import { AppError } from '../../errors.ts'
import { serve } from '../../server/serve.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'

/** A daemon of this process. */
export interface OwnDaemon {
  /** Without a slash at its end. */
  readonly server: string
  close(): Promise<void>
}

/** The line that `serve` prints once it listens. */
const listening = /serves the API on (http:\/\/[^\s"]+)/

/**
 * Serves the API in this process, on a free port of the loopback address, until it is closed; it ends with the process in
 * every case. Its remarks are shown with --verbose. Throws as `serve` does where it cannot start.
 */
export async function openOwnDaemon(cli: Cli): Promise<OwnDaemon> {
  const stopping = new AbortController()
  let found = (_server: string) => {}
  const server = new Promise<string>((resolve) => {
    found = resolve
  })
  const stderr = {
    write(text: string) {
      const [, url] = listening.exec(text) ?? []
      if (url !== undefined) found(url)
      if (cli.globals().verbose) note(cli, text.trimEnd())
    },
  }
  const io = { signal: stopping.signal, stderr, stderrIsTerminal: false, onHangUp: () => false }
  // The program that is started here knows no certificate of ours.
  const settings = { ...(await cli.settings()), tls: undefined }
  const ended = serve(io, settings, ['api'], { host: '127.0.0.1', port: '0' })
  const url = await Promise.race([server, ended.then(() => undefined)])
  if (url === undefined) throw new AppError('unavailable', 'The daemon ended before it listened')
  return {
    server: url,
    async close() {
      stopping.abort()
      await ended
    },
  }
}
