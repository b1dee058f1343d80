import { createInterface, emitKeypressEvents, type Key } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { type Io, stripControls } from '../terminal/io.ts'

/** The prompt of a conversation on a terminal. */
export interface PromptLine {
  /** Resolves with a line, or several pasted ones; undefined when the conversation ends. */
  next(): Promise<string | undefined>
  /** Runs work that Ctrl-C aborts through the signal; keys typed meanwhile wait for `next`. */
  during<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T>
  /** Hands the terminal to another prompt. */
  lend<T>(ask: () => Promise<T>): Promise<T>
  /** Restores the terminal. */
  close(): void
}

type Keypress = readonly [text: string | undefined, key: Key]
/** Members of readline's Interface that its types do not declare as writable. */
type Line = { line: string; cursor: number; clearLine(): void }

/**
 * Opens the prompt on stdin and stderr. Keys are read in raw mode all the time, so Ctrl-C arrives as a key and keys typed
 * during an answer wait for the next question; readline edits the line.
 */
export function openPromptLine(io: Io): PromptLine {
  const keyboard = io.stdin as ReadStream
  // readline reads keys from here, never from the keyboard.
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
  /** Resolves the pending `next`. */
  let deliver: ((text: string | undefined) => void) | undefined
  let stop: AbortController | undefined
  /** True after Ctrl-C on an empty line. */
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
      const nextLine = new Promise<string | undefined>((resolve) => {
        deliver = resolve
      })
      editor.prompt()
      readWaiting()
      return nextLine
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

  /** Keys are read only while `next` is pending. */
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

  /** Inserts text at the cursor; its line breaks do not end the line. */
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
    const resolve = deliver
    deliver = undefined
    resolve?.(text)
  }

  /** Ctrl-C: stops an answer; else clears the line; on an empty line the second one leaves. */
  function interrupt(): void {
    waiting = []
    pasted = undefined
    if (stop) {
      if (!stop.signal.aborted) return stop.abort()
      // A second Ctrl-C ends work that ignores its signal.
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

  /** Ctrl-Z: stops the process group; without job control it goes on. */
  function suspend(): void {
    terminal.leave()
    process.kill(0, 'SIGTSTP')
    onContinued()
  }

  /** After SIGCONT: raw mode again, since the shell has used the terminal. */
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
 * Switches raw mode and bracketed paste (xterm control sequences, "Bracketed Paste Mode") on and off; restores the terminal
 * at any exit but SIGKILL.
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
