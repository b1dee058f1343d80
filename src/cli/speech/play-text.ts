import { speakText } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openPlayer } from './player.ts'

/**
 * Speaks a text with the default voice and plays it while it is made; the signal ends it, and is thrown. Throws `unavailable` without a
 * player, and the errors of the engine.
 */
export async function playText(cli: Cli, text: string, signal: AbortSignal): Promise<void> {
  const { voice } = await cli.settings()
  const { body, headers } = await cli.ask(speakText, { input: text, stream: true, ...given({ voice }) }, signal)
  const player = await openPlayer(cli.io.environment, signal)
  const pieces = body instanceof Uint8Array ? [body] : body
  for await (const piece of pieces) if (signal.aborted || !(await player.take(piece))) break
  // A player that was stopped may end without an error.
  await player.end().finally(() => signal.throwIfAborted())
  const [spoken, total] = (headers['x-speech-chunks'] ?? '1/1').split('/').map(Number)
  if (!signal.aborted && spoken! < total!) note(cli, `aichat: ${total! - spoken!} of ${total} parts not spoken`)
}
