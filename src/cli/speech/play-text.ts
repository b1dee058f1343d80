import { createQueue, speakSentences } from '../../../speech/speech.ts'
import { speakText } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { findPlayer, openPlayer, type Player } from './player.ts'

/**
 * Speaks a text while it comes: with the default voice, played sentence by sentence; the signal ends it. Throws `unavailable` without a player.
 */
export async function openSpokenText(cli: Cli, signal: AbortSignal) {
  findPlayer(cli.io.environment)
  const { voice } = await cli.settings()
  const growing = createQueue<string>()
  const finish = () => growing.finish()
  signal.addEventListener('abort', finish, { once: true })
  const ask = (input: string) => cli.ask(speakText, { input, stream: true, ...given({ voice }) }, signal)
  const playing = play()
  // A failure is thrown by `end`.
  playing.catch(() => {})
  return {
    /** Adds to the text. */
    push: growing.push,
    /** Resolves when all is played. Throws the errors of the engine and the player, and the reason of the signal. */
    async end() {
      growing.finish()
      await playing.finally(() => {
        signal.removeEventListener('abort', finish)
        signal.throwIfAborted()
      })
    },
  }

  async function play(): Promise<void> {
    const soFar = { spoken: 0, total: 0, skipped: [] }
    let player: Player | undefined
    try {
      for await (const piece of speakSentences(growing.pieces(), ask, soFar)) {
        player ??= await openPlayer(cli.io.environment, signal)
        if (signal.aborted || !(await player.take(piece))) break
      }
    } finally {
      await player?.end()
    }
    const missing = soFar.total - soFar.spoken
    if (!signal.aborted && missing > 0) note(cli, `aichat: ${missing} of ${soFar.total} parts not spoken`)
  }
}

/** Speaks and plays a whole text, as `openSpokenText` does. */
export async function playText(cli: Cli, text: string, signal: AbortSignal): Promise<void> {
  const spoken = await openSpokenText(cli, signal)
  spoken.push(text)
  await spoken.end()
}
