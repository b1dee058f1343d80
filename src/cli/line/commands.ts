import type { Key } from 'node:readline'
import type { Buffer } from './buffer.ts'

/** What keys do beyond the text. */
export interface PromptActions {
  enter(): void
  earlier(): void
  later(): void
  search(): void
  complete(): void
  /** Ctrl-D on an empty text. */
  endOfInput(): void
  clear(): void
}

/** The name of a key with its modifiers, as in Emacs: `C-x`, `M-return`. */
export function chordOf({ ctrl, meta, name = '' }: Key): string {
  return `${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`
}

/** The keys of the prompt; readline has all others. */
export function createCommands(buffer: Buffer, actions: PromptActions) {
  const home = () => buffer.move(buffer.lineStart())
  const end = () => buffer.move(buffer.lineEnd())
  const up = () => void (buffer.toLine(-1) || actions.earlier())
  const down = () => void (buffer.toLine(1) || actions.later())
  const deleteOrEnd = () => (buffer.text === '' ? actions.endOfInput() : buffer.deleteRight())
  const keys: Readonly<Record<string, () => void>> = {
    return: actions.enter,
    enter: actions.enter,
    'M-return': () => buffer.insert('\n'),
    'M-enter': () => buffer.insert('\n'),
    tab: actions.complete,
    'C-r': actions.search,
    'C-l': actions.clear,
    up,
    'C-p': up,
    down,
    'C-n': down,
    pageup: actions.earlier,
    pagedown: actions.later,
    left: buffer.left,
    'C-b': buffer.left,
    right: buffer.right,
    'C-f': buffer.right,
    home,
    'C-a': home,
    end,
    'C-e': end,
    'M-<': () => buffer.move(0),
    'M->': () => buffer.move(buffer.text.length),
    backspace: buffer.deleteLeft,
    'C-h': buffer.deleteLeft,
    delete: buffer.deleteRight,
    'C-d': deleteOrEnd,
    // Keys without a meaning here, which readline would take as text or as the end.
    escape: () => {},
    'M-escape': () => {},
    'C-c': () => {},
    'C-z': () => {},
    'C-s': () => {},
    'C-q': () => {},
  }
  return {
    run(text: string | undefined, key: Key): void {
      const chord = chordOf(key)
      const action = Object.hasOwn(keys, chord) ? keys[chord] : undefined
      if (action) action()
      // A key of the terminal that readline does not know has a sequence and no text.
      else if (text === undefined || !/[\r\n]/.test(text)) buffer.key(text, key)
    },
  }
}
