import { AppError, toAppError } from '../../errors.ts'
import { runWorker } from '../../server/server.ts'
import type { Cli } from '../terminal/cli.ts'

/** Serves as one of the processes of `aichat serve --workers`, which starts it. Throws `usage` where that did not. */
export async function work(cli: Cli): Promise<void> {
  if (!process.connected)
    throw new AppError('usage', 'A worker is started by its service: aichat serve --workers NUMBER')
  cli.endsWithSignal = true
  const { signal, stderr, stderrIsTerminal } = cli.io
  // Ignores SIGHUP: its owner receives the signals for the service.
  const onHangUp = (listener: () => void) => cli.io.outliveTerminal(listener)
  onHangUp(() => {})
  try {
    await runWorker({ signal, stderr, stderrIsTerminal, onHangUp }, process)
  } catch (thrown) {
    // The owner of the service knows it, and shows it.
    cli.exit = toAppError(thrown).exit
  }
}
