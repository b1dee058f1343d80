import { emitKeypressEvents, type Key } from 'node:readline'
import type { ReadStream } from 'node:tty'
import { openRuler } from '../markdown/styled.ts'
import { type Io, stripControls } from '../terminal/io.ts'
import { openBuffer } from './buffer.ts'
import { chordOf, createCommands } from './commands.ts'
import { type Complete, commonBeginning, listed } from './completion.ts'
import { openDumbView } from './dumb-view.ts'
import type { History } from './history.ts'
import { openKeyboard } from './keyboard.ts'
import type { Edited } from './layout.ts'
import { continues } from './multi-line.ts'
import { openLineView } from './view.ts'

/** The prompt of a conversation on a terminal. */
export interface PromptLine {
  /** Resolves with a text of one or several lines; undefined when the conversation ends. */
  next(): Promise<string | undefined>
  /** Runs work that Ctrl-C aborts through the signal; keys typed meanwhile wait for `next`. */
  during<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T>
  /** Hands the terminal to another prompt or program. */
  lend<T>(ask: () => Promise<T>): Promise<T>
  /** Goes on with the history of another conversation. */
  use(history: History): void
  /** Empties the window. */
  clear(): void
  /** Restores the terminal. */
  close(): void
}

/** The parts of a prompt other than the terminal. */
export interface PromptParts {
  readonly history: History
  readonly complete: Complete
  /** Has a text edited in the user's editor, while the terminal is lent; its failure is shown. */
  readonly edit: (text: string) => Promise<string>
}

type Keypress = readonly [text: string | undefined, key: Key]

/** A completion that asks a server gives up after this time: milliseconds. */
const completionMs = 3_000

const mark = '> '

/**
 * Opens the prompt on stdin and stderr. Keys are read in raw mode all the time, so Ctrl-C arrives as a key and keys typed
 * during an answer wait for the next question; readline edits the text, and a view of our own draws it.
 */
export async function openPromptLine(io: Io, parts: PromptParts): Promise<PromptLine> {
  const keyboard = io.stdin as ReadStream
  const ruler = await openRuler()
  const buffer = openBuffer()
  const terminal = openKeyboard(io)
  const view = io.environment['TERM'] === 'dumb' ? openDumbView(io) : openLineView(io, ruler)
  let { history } = parts
  let waiting: Keypress[] = []
  /** The text of a paste that has begun. */
  let pasted: string | undefined
  /** Resolves the pending `next`. */
  let deliver: ((text: string | undefined) => void) | undefined
  let stop: AbortController | undefined
  /** Set while keys wait for a completion or an editor. */
  let busy: AbortController | undefined
  /** True after Ctrl-C on an empty line. */
  let leaves = false
  /** True after Ctrl-X. */
  let prefixed = false
  let closed = false
  /** True from a drawing after Ctrl-Z to the next key: the signal that follows finds that drawing on the screen. */
  let resumed = false

  const commands = createCommands(buffer, {
    enter,
    earlier: () => show(history.earlier(buffer.text)),
    later: () => show(history.later()),
    complete: () => hold(complete),
    endOfInput: close,
    clear: () => view.clear(),
  })

  emitKeypressEvents(keyboard)
  keyboard.on('keypress', onKeypress).on('end', close)
  process.on('SIGCONT', onContinued)
  const stopListening = io.onResize(draw)
  io.signal.addEventListener('abort', close, { once: true })
  if (io.signal.aborted) close()
  else terminal.enter()

  return {
    next() {
      if (closed) return Promise.resolve(undefined)
      const nextText = new Promise<string | undefined>((resolve) => {
        deliver = resolve
      })
      view.forget()
      draw()
      readWaiting()
      return nextText
    },
    async during(work) {
      const outer = stop
      stop = new AbortController()
      try {
        return await work(stop.signal)
      } finally {
        stop = outer
      }
    },
    lend,
    use(other) {
      history = other
    },
    clear: () => view.clear(),
    close,
  }

  async function lend<T>(ask: () => Promise<T>): Promise<T> {
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
  }

  function onKeypress(text: string | undefined, key: Key): void {
    resumed = false
    if (key.ctrl && key.name === 'c') return interrupt()
    if (key.ctrl && key.name === 'z') return suspend()
    waiting.push([text, key])
    readWaiting()
  }

  /** Reads keys only while `next` is pending; draws their changes together. */
  function readWaiting(): void {
    let taken = false
    while (deliver && !busy && waiting.length > 0) {
      read(waiting.shift()!)
      taken = true
    }
    if (taken) draw()
  }

  function read([text, key]: Keypress): void {
    leaves = false
    if (key.name === 'paste-start') pasted = ''
    else if (key.name === 'paste-end') paste()
    else if (pasted !== undefined) pasted += text ?? key.sequence ?? ''
    else if (prefixed) {
      prefixed = false
      if (key.ctrl && key.name === 'e') hold(edit)
    } else if (chordOf(key) === 'C-x') prefixed = true
    else commands.run(text, key)
  }

  /** Inserts pasted text; its line breaks do not end the text. */
  function paste(): void {
    const text = stripControls((pasted ?? '').replace(/\r\n?/g, '\n')).replace(/(?<!\n)\n+$/, '')
    pasted = undefined
    buffer.insert(text)
  }

  /** Enter: gives the text away, or begins its next line. */
  function enter(): void {
    const { text, cursor } = buffer
    const more = continues(text, cursor)
    if (more !== undefined) return buffer.set(more)
    const resolve = deliver
    deliver = undefined
    view.finish(edited())
    history.add(text)
    buffer.set('')
    resolve?.(text)
  }

  function show(text: string | undefined): void {
    if (text !== undefined) buffer.set(text)
  }

  /** Lets keys wait for work that Ctrl-C, or the time, ends. */
  function hold(work: (signal: AbortSignal) => Promise<void>): void {
    const held = new AbortController()
    busy = held
    held.signal.addEventListener('abort', release, { once: true })
    work(held.signal)
      .catch((reason: unknown) => {
        if (!held.signal.aborted) tell(reason instanceof Error ? reason.message : String(reason))
      })
      .finally(release)

    function release(): void {
      if (busy !== held) return
      busy = undefined
      draw()
      readWaiting()
    }
  }

  async function complete(signal: AbortSignal): Promise<void> {
    const { text, cursor } = buffer
    const held = busy
    const timer = setTimeout(() => held?.abort(), completionMs)
    const { from, words } = await parts.complete(text, cursor, signal).finally(() => clearTimeout(timer))
    const [only, ...others] = words
    // The text may be another by now.
    if (signal.aborted || !only) return
    const isLast = others.length === 0 && !only.goesOn && !text.startsWith(' ', cursor)
    const inserted = others.length === 0 ? only.text + (isLast ? ' ' : '') : commonBeginning(words)
    if (others.length === 0 || inserted.length > cursor - from)
      buffer.set(text.slice(0, from) + inserted + text.slice(cursor), from + inserted.length)
    else view.above([...shownRows(edited()), ...listed(words, io.columns, ruler)])
  }

  async function edit(): Promise<void> {
    const { text } = buffer
    view.above([])
    const written = await lend(() => parts.edit(text))
    buffer.set(stripControls(written.replace(/\r\n?/g, '\n')))
  }

  /** Prints a remark above the text. */
  function tell(remark: string): void {
    if (closed) return
    view.above(stripControls(`aichat: ${remark}`).split('\n'))
  }

  function edited(): Edited {
    return { text: buffer.text, cursor: buffer.cursor, mark }
  }

  function draw(): void {
    if (deliver && !busy) view.draw(edited())
  }

  /** Ctrl-C: stops an answer; else clears the text; on an empty one the second one leaves. */
  function interrupt(): void {
    waiting = []
    pasted = undefined
    prefixed = false
    if (stop) {
      if (!stop.signal.aborted) return stop.abort()
      // A second Ctrl-C ends work that ignores its signal.
      terminal.leave()
      return void process.kill(process.pid, 'SIGINT')
    }
    busy?.abort()
    if (!deliver) return
    const empty = buffer.text === ''
    if (empty && leaves) return close()
    leaves = empty
    view.finish(edited())
    buffer.set('')
    if (empty) io.err('Ctrl-C again, or Ctrl-D, ends the conversation.')
    draw()
  }

  /** Ctrl-Z: stops the process group; without job control it continues. */
  function suspend(): void {
    terminal.leave()
    process.kill(0, 'SIGTSTP')
    onContinued()
    resumed = true
  }

  /** After SIGCONT: raw mode again, since the shell has used the terminal. */
  function onContinued(): void {
    if (closed) return
    terminal.leave()
    terminal.enter()
    if (resumed) view.above([])
    else view.forget()
    draw()
  }

  function close(): void {
    if (closed) return
    closed = true
    busy?.abort()
    io.signal.removeEventListener('abort', close)
    process.off('SIGCONT', onContinued)
    stopListening()
    keyboard.off('keypress', onKeypress).off('end', close)
    terminal.close()
    buffer.close()
    const resolve = deliver
    deliver = undefined
    resolve?.(undefined)
  }
}

/** The text as it stays above a list of words. */
function shownRows({ mark: before, text }: Edited): readonly string[] {
  return `${before}${text}`.split('\n')
}
