import { createInterface, emitKeypressEvents, type Key } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { type Io, stripControls } from '../terminal/io.ts'

/** Somebody at a terminal who says something, hears an answer, and says something again. */
export interface PromptLine {
  /** Resolves with what was said: a line, or several that were pasted; undefined when the conversation ends. */
  next(): Promise<string | undefined>
  /** Does something that Ctrl-C stops: it aborts the signal. What is typed meanwhile is read by `next`. */
  during<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T>
  /** Leaves the terminal to a question of another kind. */
  lend<T>(ask: () => Promise<T>): Promise<T>
  /** Leaves the terminal as it was found. */
  close(): void
}

type Keypress = readonly [text: string | undefined, key: Key]
/** What readline has but its types do not name: the line may be set, and left behind. */
type Line = { line: string; cursor: number; clearLine(): void }

/**
 * Opens the conversation on stdin and stderr. The keyboard is read key by key all the time, so that Ctrl-C is a key like
 * any other and what is typed during an answer waits for the next question; readline edits the line.
 */
export function openPromptLine(io: Io): PromptLine {
  const keyboard = io.stdin as ReadStream
  // readline gets the keys one by one from here and never sees the keyboard.
  const keys = new PassThrough()
  const editor = createInterface({
    input: keys,
    output: io.stderr,
    terminal: true,
    prompt: '> ',
    historySize: 1000,
    removeHistoryDuplicates: true,
  })
  const line = editor as unknown as Line
  const terminal = rawTerminal(io, keyboard)
  let waiting: Keypress[] = []
  /** The text of a paste that has begun. */
  let pasted: string | undefined
  /** Takes the next line while one is wanted. */
  let deliver: ((text: string | undefined) => void) | undefined
  let stop: AbortController | undefined
  /** Whether Ctrl-C was the last key, on an empty line. */
  let leaves = false
  let closed = false

  emitKeypressEvents(keyboard)
  keyboard.on('keypress', onKeypress).on('end', close)
  editor.on('line', answer).on('close', close)
  process.on('SIGCONT', onContinued)
  io.signal.addEventListener('abort', close, { once: true })
  if (io.signal.aborted) close()
  else terminal.enter()

  return {
    next() {
      if (closed) return Promise.resolve(undefined)
      const said = new Promise<string | undefined>((resolve) => {
        deliver = resolve
      })
      editor.prompt()
      readWaiting()
      return said
    },
    async during(work) {
      stop = new AbortController()
      try {
        return await work(stop.signal)
      } finally {
        stop = undefined
      }
    },
    async lend(ask) {
      keyboard.off('keypress', onKeypress)
      terminal.leave()
      try {
        return await ask()
      } finally {
        if (!closed) {
          keyboard.on('keypress', onKeypress)
          terminal.enter()
        }
      }
    },
    close,
  }

  function onKeypress(text: string | undefined, key: Key): void {
    if (key.ctrl && key.name === 'c') return interrupt()
    if (key.ctrl && key.name === 'z') return suspend()
    waiting.push([text, key])
    readWaiting()
  }

  /** Keys are read only while a line is wanted. */
  function readWaiting(): void {
    while (deliver && waiting.length > 0) read(waiting.shift()!)
  }

  function read([text, key]: Keypress): void {
    leaves = false
    if (key.name === 'paste-start') pasted = ''
    else if (key.name === 'paste-end') insert(pasted ?? '')
    else if (pasted !== undefined) pasted += text ?? key.sequence ?? ''
    else if (key.name === 'return' && key.meta) insert('\n')
    else keys.emit('keypress', text, key)
  }

  /** Puts text where the cursor stands; line breaks within it end nothing. */
  function insert(text: string): void {
    const isPaste = pasted !== undefined
    pasted = undefined
    const lines = stripControls(text.replace(/\r\n?/g, '\n'))
    const inserted = isPaste ? lines.replace(/\n+$/, '') : lines
    line.line = line.line.slice(0, line.cursor) + inserted + line.line.slice(line.cursor)
    line.cursor += inserted.length
    editor.prompt(true)
  }

  function answer(text: string | undefined): void {
    const said = deliver
    deliver = undefined
    said?.(text)
  }

  /** Stops an answer; else empties the line; on an empty line leaves the second time. */
  function interrupt(): void {
    waiting = []
    pasted = undefined
    if (stop) {
      if (!stop.signal.aborted) return stop.abort()
      // What does not stop by itself is ended like any other command.
      terminal.leave()
      return void process.kill(process.pid, 'SIGINT')
    }
    if (!deliver) return
    const empty = line.line === ''
    if (empty && leaves) return close()
    leaves = empty
    line.clearLine()
    if (empty) io.err('Ctrl-C again, or Ctrl-D, ends the conversation.')
    editor.prompt()
  }

  /** Stops the whole job, as the terminal itself would; without job control the system lets it go on. */
  function suspend(): void {
    terminal.leave()
    process.kill(0, 'SIGTSTP')
    onContinued()
  }

  /** A shell has used the terminal in between. */
  function onContinued(): void {
    if (closed) return
    terminal.leave()
    terminal.enter()
    if (deliver) editor.prompt(true)
  }

  function close(): void {
    if (closed) return
    closed = true
    io.signal.removeEventListener('abort', close)
    process.off('SIGCONT', onContinued)
    keyboard.off('keypress', onKeypress).off('end', close)
    terminal.close()
    editor.close()
    answer(undefined)
  }
}

/**
 * The terminal in raw mode and with pastes marked as such (bracketed paste: xterm's control sequences, "Bracketed Paste
 * Mode"), and out of it again, whatever ends the process but SIGKILL.
 */
function rawTerminal(io: Io, keyboard: ReadStream): { enter(): void; leave(): void; close(): void } {
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
