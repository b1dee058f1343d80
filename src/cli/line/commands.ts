import type { Key } from 'node:readline'
import type { Buffer } from './buffer.ts'

/** The effects of keys beyond the text. */
export interface PromptActions {
  enter(): void
  earlier(): void
  later(): void
  complete(): void
  /** Ctrl-D on an empty text. */
  endOfInput(): void
  clear(): void
}

/** The name of a key with its modifiers, as in Emacs: `C-x`, `M-return`. */
export function chordOf({ ctrl, meta, name = '' }: Key): string {
  return `${ctrl ? 'C-' : ''}${meta ? 'M-' : ''}${name}`
}

/** Keys with which readline deletes text, and whether the deleted text lies before the cursor. */
const kills: Readonly<Record<string, boolean>> = {
  'C-u': true,
  'C-k': false,
  'C-w': true,
  'C-backspace': true,
  'M-backspace': true,
  'M-d': false,
  'C-delete': false,
  'M-delete': false,
}

/** The keys of the prompt; readline has all others. */
export function createCommands(buffer: Buffer, actions: PromptActions) {
  /** The text that Ctrl-Y puts back. readline itself remembers whole lines alone, and no words. */
  let killed = ''
  let killedBefore = false
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
    'C-l': actions.clear,
    up,
    'C-p': up,
    down,
    'C-n': down,
    pageup: actions.earlier,
    pagedown: actions.later,
    'C-y': () => buffer.type(killed),
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
    'C-r': () => {},
    'C-z': () => {},
    'C-s': () => {},
    'C-q': () => {},
  }
  return {
    run(text: string | undefined, key: Key): void {
      const chord = chordOf(key)
      const goesOn = killedBefore
      killedBefore = false
      const action = Object.hasOwn(keys, chord) ? keys[chord] : undefined
      if (action) action()
      // A key of the terminal that readline does not know has a sequence and no text.
      else if (Object.hasOwn(kills, chord)) kill(text, key, kills[chord]!, goesOn)
      else if (text === undefined || !/[\r\n]/.test(text)) buffer.key(text, key)
    },
  }

  /** Deletes text; the text of several such keys in a row is put back together. */
  function kill(text: string | undefined, key: Key, isBefore: boolean, goesOn: boolean): void {
    const { text: before, cursor } = buffer
    buffer.key(text, key)
    const taken = before.length - buffer.text.length
    const piece = isBefore ? before.slice(cursor - taken, cursor) : before.slice(cursor, cursor + taken)
    if (!goesOn) killed = piece
    else killed = isBefore ? piece + killed : killed + piece
    killedBefore = true
  }
}
