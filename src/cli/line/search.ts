import type { Key } from 'node:readline'
import type { History } from './history.ts'
import type { Edited } from './layout.ts'

/** A search through the history that continues while its words are typed. */
export interface Search {
  /** The line to show: the words, and the text found so far. */
  edited(): Edited
  /** Takes a key; `ended` for one that ends the search, and is then handled as any other. */
  key(text: string | undefined, key: Key): 'taken' | 'ended' | 'given up'
  /** The text found last. */
  readonly found: string
}

/** Begins a search at the end of the history; `shown` is there until a text is found. */
export function beginSearch(history: History, shown: string): Search {
  let words = ''
  let found = { at: history.size, text: shown }
  let missed = false

  return {
    get found() {
      return found.text
    },
    edited() {
      const cursor = words === '' ? 0 : Math.max(0, placeOf(found.text, words))
      return { text: found.text, cursor, mark: `(${missed ? 'not found' : 'search'} "${words}") ` }
    },
    key(text, { name, ctrl, meta }) {
      if (ctrl && name === 'g') return 'given up'
      if (ctrl && (name === 'r' || name === 's')) look(name === 'r' ? -1 : 1, found.at + (name === 'r' ? -1 : 1))
      else if (name === 'backspace') {
        words = [...words].slice(0, -1).join('')
        if (words === '') missed = false
        else look(-1, history.size - 1)
      } else if (!ctrl && !meta && text !== undefined && !/\p{Cc}/u.test(text)) {
        words += text
        look(-1, Math.min(found.at, history.size - 1))
      } else return 'ended'
      return 'taken'
    },
  }

  function look(step: -1 | 1, from: number): void {
    const next = words === '' ? undefined : history.find(words, from, step)
    missed = words !== '' && next === undefined
    found = next ?? found
  }
}

function placeOf(text: string, words: string): number {
  return words === words.toLowerCase() ? text.toLowerCase().indexOf(words) : text.indexOf(words)
}
