import { type ServeOptions, serve as startServers } from '../../server/server.ts'
import type { Cli } from '../terminal/cli.ts'

/** Serves until a signal; exits 0 once requests in flight are finished. */
export async function serve(cli: Cli, names: readonly string[], options: ServeOptions): Promise<void> {
  cli.endsWithSignal = true
  const { signal, stderr, stderrIsTerminal } = cli.io
  const onHangUp = (listener: () => void) => cli.io.outliveTerminal(listener)
  onHangUp(() => {})
  await startServers({ signal, stderr, stderrIsTerminal, onHangUp }, await cli.settings(), names, options)
}
