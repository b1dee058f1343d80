import type { ReadStream } from 'node:tty'
import type { Io } from '../terminal/io.ts'

/** Switches raw mode and bracketed paste (xterm) on and off; restores the terminal at any exit but SIGKILL. */
export function openKeyboard(io: Io) {
  const keyboard = io.stdin as ReadStream
  const marks = io.environment['TERM'] !== 'dumb'
  let entered = false
  process.on('exit', leave)
  return {
    enter() {
      entered = true
      keyboard.setRawMode(true)
      keyboard.resume()
      if (marks) io.stderr.write('\x1b[?2004h')
    },
    leave,
    close() {
      leave()
      process.off('exit', leave)
    },
  }

  function leave(): void {
    if (!entered) return
    entered = false
    if (marks) io.stderr.write('\x1b[?2004l')
    keyboard.setRawMode(false)
    keyboard.pause()
  }
}
