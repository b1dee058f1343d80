import { createInterface, emitKeypressEvents, type Interface, type Key } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { ReadStream } from 'node:tty'
import { type Io, stripControls } from '../terminal/io.ts'
import { type Complete, commonBeginning, listed } from './completion.ts'
import { openKeyboard } from './keyboard.ts'
import { endsInBackslash, isOpenBlock } from './multi-line.ts'

/** The prompt of a conversation on a terminal. */
export type PromptLine = ReturnType<typeof openPromptLine>

export interface History {
  /** The latest first. */
  readonly lines: readonly string[]
  add(line: string): void
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

/** The mark before the first line of a text, and before each further one. */
const [firstMark, nextMark] = ['> ', '. ']

/**
 * Opens the prompt on stdin and stderr. Keys are read in raw mode all the time, so Ctrl-C arrives as a key and keys typed
 * during an answer wait for the next question; readline edits and draws the line that is typed.
 */
export function openPromptLine(io: Io, parts: PromptParts) {
  const keyboard = io.stdin as ReadStream
  const terminal = openKeyboard(io)
  const isDumb = io.environment['TERM'] === 'dumb'
  /** Carries keys to readline. */
  const keys = new PassThrough()
  let { history } = parts
  /** Open while a text is typed: a change of the window's size draws its line. */
  let editor: Interface | undefined
  /** The lines of a text before the one that is typed. */
  let begun: string[] = []
  /** True while lines end within a text: those of a paste, or by Alt-Enter. */
  let goesOn = false
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

  emitKeypressEvents(keyboard)
  keyboard.on('keypress', onKeypress).on('end', close)
  process.on('SIGCONT', onContinued)
  io.signal.addEventListener('abort', close, { once: true })
  if (io.signal.aborted) close()
  else terminal.enter()

  return {
    /** Resolves with a text of one or several lines; undefined when the conversation ends. */
    next(): Promise<string | undefined> {
      if (closed) return Promise.resolve(undefined)
      const nextText = new Promise<string | undefined>((resolve) => {
        deliver = resolve
      })
      openEditor()
      readWaiting()
      return nextText
    },
    /** Runs work that Ctrl-C aborts through the signal; keys typed meanwhile wait for `next`. */
    async during<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
      const outer = stop
      stop = new AbortController()
      try {
        return await work(stop.signal)
      } finally {
        stop = outer
      }
    },
    lend,
    /** Goes on with the history of another conversation. */
    use(other: History) {
      history = other
    },
    clear() {
      if (!isDumb) io.stderr.write('\x1b[H\x1b[2J')
    },
    close,
  }

  /** Hands the terminal to another prompt or program. */
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

  /** Draws the mark in the line of the cursor, and begins to edit a line there. */
  function openEditor(): void {
    editor = createInterface({
      input: keys,
      output: io.stderr,
      terminal: true,
      prompt: begun.length === 0 ? firstMark : nextMark,
      history: [...history.lines],
      historySize: history.lines.length + 1_000,
    })
    editor.on('line', onLine)
    editor.prompt()
  }

  /** Leaves the line as it is drawn; the cursor then stands below it. */
  function leaveEditor(): void {
    if (!editor) return
    press(undefined, { ctrl: true, name: 'e' })
    editor.close()
    editor = undefined
    io.stderr.write('\n')
  }

  function press(text: string | undefined, key: Partial<Key>): void {
    keys.emit('keypress', text, { ctrl: false, meta: false, shift: false, ...key })
  }

  function typedText(): string {
    return [...begun, editor?.line ?? ''].join('\n')
  }

  function onLine(line: string): void {
    begun.push(line)
    if (!goesOn && line.trim() !== '') history.add(line)
    const isOpen = goesOn || isOpenBlock(begun.join('\n'))
    if (!isOpen && endsInBackslash(line)) begun[begun.length - 1] = line.slice(0, -1)
    else if (!isOpen) return finish()
    editor!.setPrompt(nextMark)
    editor!.prompt()
  }

  /** Gives the text away. */
  function finish(): void {
    const resolve = deliver
    const text = begun.join('\n')
    deliver = undefined
    begun = []
    editor!.close()
    editor = undefined
    resolve?.(text)
  }

  /** Inserts a text of any number of lines at the cursor, without ending the text. */
  function insert(text: string): void {
    if (text === '') return
    const rest = text.includes('\n') ? editor!.line.slice(editor!.cursor) : ''
    // Each line break enters a line: the rest belongs to the last one.
    if (rest !== '') press(undefined, { ctrl: true, name: 'k' })
    goesOn = true
    press(text + rest, {})
    goesOn = false
  }

  function onKeypress(text: string | undefined, key: Key): void {
    if (key.ctrl && key.name === 'c') return interrupt()
    if (key.ctrl && key.name === 'z') return suspend()
    waiting.push([text, key])
    readWaiting()
  }

  /** Reads keys only while `next` is pending. */
  function readWaiting(): void {
    while (deliver && !busy && waiting.length > 0) read(waiting.shift()!)
  }

  function read([text, key]: Keypress): void {
    const isEnter = key.name === 'return' || key.name === 'enter'
    leaves = false
    if (key.name === 'paste-start') pasted = ''
    else if (key.name === 'paste-end') paste()
    else if (pasted !== undefined) pasted += text ?? key.sequence ?? ''
    else if (prefixed) {
      prefixed = false
      if (key.ctrl && key.name === 'e') hold(edit)
    } else if (key.ctrl && key.name === 'x') prefixed = true
    else if (key.ctrl && key.name === 'd' && editor!.line === '') {
      if (begun.length === 0) close()
    } else if (key.name === 'tab') hold(complete)
    else if (isEnter && key.meta) insert('\n')
    else press(text, key)
  }

  /** Inserts pasted text; its line breaks do not end the text. */
  function paste(): void {
    const text = stripControls((pasted ?? '').replace(/\r\n?/g, '\n')).replace(/(?<!\n)\n+$/, '')
    pasted = undefined
    insert(text)
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
      readWaiting()
    }
  }

  async function complete(signal: AbortSignal): Promise<void> {
    // A dumb terminal cannot show a changed line.
    if (isDumb) return
    const { line, cursor } = editor!
    const held = busy
    const timer = setTimeout(() => held?.abort(), completionMs)
    const typed = line.slice(0, cursor)
    const { from, words } = await parts.complete(typed, signal).finally(() => clearTimeout(timer))
    const [only, ...others] = words
    // The text may be another by now.
    if (signal.aborted || !only) return
    const isLast = others.length === 0 && !only.goesOn && !line.startsWith(' ', cursor)
    const inserted = others.length === 0 ? only.text + (isLast ? ' ' : '') : commonBeginning(words)
    if (others.length === 0 || inserted.length > cursor - from)
      draw(line.slice(0, from) + inserted + line.slice(cursor), from + inserted.length)
    else {
      const rows = await listed(words, io.columns)
      if (!signal.aborted) showAbove(rows)
    }
  }

  /** Draws another line in place of the one that is typed. */
  function draw(line: string, cursor: number): void {
    // Members of readline's Interface that its types declare as read-only.
    Object.assign(editor!, { line, cursor })
    editor!.prompt(true)
  }

  /** Prints lines below the one that is typed, and draws that again below them. */
  function showAbove(lines: readonly string[]): void {
    const { line, cursor } = editor!
    leaveEditor()
    for (const each of lines) io.err(each)
    openEditor()
    if (isDumb) insert(line)
    else draw(line, cursor)
  }

  async function edit(): Promise<void> {
    const text = typedText()
    leaveEditor()
    begun = []
    let written = text
    try {
      written = stripControls((await lend(() => parts.edit(text))).replace(/\r\n?/g, '\n'))
    } catch (reason) {
      if (!closed) io.err(stripControls(`aichat: ${(reason as Error).message}`))
    }
    if (closed) return
    openEditor()
    insert(written)
  }

  function tell(remark: string): void {
    if (editor) showAbove(stripControls(`aichat: ${remark}`).split('\n'))
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
    const isEmpty = typedText() === ''
    if (isEmpty && leaves) return close()
    leaves = isEmpty
    leaveEditor()
    begun = []
    if (isEmpty) io.err('Ctrl-C again, or Ctrl-D, ends the conversation.')
    openEditor()
  }

  /** Ctrl-Z: stops the process group; without job control it continues. */
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
    editor?.prompt(true)
  }

  /** Restores the terminal. */
  function close(): void {
    if (closed) return
    closed = true
    busy?.abort()
    io.signal.removeEventListener('abort', close)
    process.off('SIGCONT', onContinued)
    keyboard.off('keypress', onKeypress).off('end', close)
    terminal.close()
    editor?.close()
    keys.destroy()
    const resolve = deliver
    deliver = undefined
    resolve?.(undefined)
  }
}
