import type { Metadata } from './memory.ts'

/**
 * Lore: memories that come into a prompt by keys, as the entries of a lorebook do. `metadata.keys` makes a memory lore; the
 * other fields are those of an entry of a character card (version 3, "Lorebook Fields").
 */
export interface Lore {
  readonly keys: readonly string[]
  /** One of these must occur, too; none asks for nothing. */
  readonly secondary: readonly string[]
  /** In every prompt, without a key. */
  readonly constant: boolean
  readonly caseSensitive: boolean
  /** The place in the prompt: the lowest first. */
  readonly order: number
  /** Decides when there is too much lore: the highest stay. */
  readonly priority: number
  /** How many of the last messages are searched for keys. */
  readonly depth: number
}

/** The most keys of an entry, primary and secondary each, and characters of a key: more are passed over. */
export const loreLimits = { keys: 64, key: 200, depth: 20 } as const

/** The messages that are searched unless an entry says otherwise. */
const usualDepth = 4

/** Whether a memory comes into prompts by its keys, and not by search. */
export function isLore(metadata: Metadata): boolean {
  return Array.isArray(metadata['keys'])
}

/**
 * The lore of a memory's metadata; undefined for any other memory, one that is not enabled, and one with regular
 * expressions as its keys: those are never run, since a stranger's pattern may take exponential time.
 */
export function loreOf(metadata: Metadata): Lore | undefined {
  if (!isLore(metadata) || metadata['enabled'] === false || metadata['use_regex'] === true) return undefined
  const order = numberOr(metadata['insertion_order'], 100)
  return {
    keys: keysIn(metadata['keys']),
    secondary: metadata['selective'] === true ? keysIn(metadata['secondary_keys']) : [],
    constant: metadata['constant'] === true,
    caseSensitive: metadata['case_sensitive'] === true,
    order,
    priority: numberOr(metadata['priority'], order),
    depth: Math.min(loreLimits.depth, Math.max(1, Math.floor(numberOr(metadata['scan_depth'], usualDepth)))),
  }
}

function keysIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [])
    .filter((key): key is string => typeof key === 'string' && key.trim() !== '' && key.length <= loreLimits.key)
    .slice(0, loreLimits.keys)
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

/**
 * The content of an entry as a prompt holds it: without the decorators before it (lines from `@@`), which have no
 * effect here, and with names in the place of `{{char}}` and `{{user}}`.
 */
export function loreText(content: string, character: string): string {
  const lines = content.split('\n')
  const start = lines.findIndex((line) => !line.startsWith('@@') && line.trim() !== '')
  return (start < 0 ? [] : lines.slice(start))
    .join('\n')
    .trim()
    .replaceAll(/\{\{char\}\}/gi, () => character)
    .replaceAll(/\{\{user\}\}/gi, 'the user')
}

/** An entry of an index: its lore, its memory's id, and how long its content is. */
export interface LoreEntry {
  readonly id: string
  readonly lore: Lore
  /** Characters. */
  readonly length: number
}

/** A step of a tree of keys, by word. */
interface Step {
  readonly next: Map<string, Step>
  /** The keys that end here: entry, and whether it is a primary key. */
  readonly ends: { readonly entry: number; readonly isPrimary: boolean }[]
}

/** The most characters of the messages that are searched, from their end. */
const longestSearch = 16_000

/** The most entries that one prompt takes. */
const mostEntries = 64

/** Finds entries with a key in a text, as whole words, in time that does not depend on their number. */
export class LoreIndex {
  readonly #entries: LoreEntry[] = []
  readonly #constant: number[] = []
  readonly #folded: Step = step()
  readonly #exact: Step = step()

  add(entry: LoreEntry): void {
    const { lore } = entry
    const number = this.#entries.push(entry) - 1
    if (lore.constant) this.#constant.push(number)
    else {
      for (const key of lore.keys) this.#put(key, lore.caseSensitive, { entry: number, isPrimary: true })
      for (const key of lore.secondary) this.#put(key, lore.caseSensitive, { entry: number, isPrimary: false })
    }
  }

  /**
   * The constant entries and those that messages call for, in the order of a prompt. Of more than fit the ones of the highest
   * priority stay, constant ones first.
   * @param messages the texts of a conversation, the last one last
   * @param characters how many the entries may have together
   */
  match(messages: readonly string[], characters: number): readonly LoreEntry[] {
    const found = [...this.#constant, ...this.#called(messages)].map((number) => this.#entries[number]!)
    found.sort(
      (left, right) =>
        Number(right.lore.constant) - Number(left.lore.constant) || right.lore.priority - left.lore.priority,
    )
    let left = characters
    const fitting: LoreEntry[] = []
    for (const entry of found) {
      if (fitting.length === mostEntries) break
      if (entry.length > left) continue
      left -= entry.length
      fitting.push(entry)
    }
    return fitting.sort((first, second) => first.lore.order - second.lore.order)
  }

  #put(key: string, isExact: boolean, end: Step['ends'][number]): void {
    let at = isExact ? this.#exact : this.#folded
    for (const word of wordsOf(isExact ? key : folded(key))) {
      const known = at.next.get(word)
      const next = known ?? step()
      if (!known) at.next.set(word, next)
      at = next
    }
    if (at !== this.#exact && at !== this.#folded) at.ends.push(end)
  }

  #called(messages: readonly string[]): readonly number[] {
    const primary = new Set<number>()
    const secondary = new Set<number>()
    const seen = new Set<Step>()
    let left = longestSearch
    for (let back = 0; back < loreLimits.depth && back < messages.length && left > 0; back++) {
      const text = messages.at(-1 - back)!.slice(-left)
      left -= text.length
      for (const end of [...endsIn(this.#exact, wordsOf(text)), ...endsIn(this.#folded, wordsOf(folded(text)))]) {
        // A key that a newer message holds was counted there, with a smaller distance.
        if (seen.has(end)) continue
        seen.add(end)
        for (const { entry, isPrimary } of end.ends)
          if (back < this.#entries[entry]!.lore.depth) (isPrimary ? primary : secondary).add(entry)
      }
    }
    return [...primary].filter((entry) => this.#entries[entry]!.lore.secondary.length === 0 || secondary.has(entry))
  }
}

function step(): Step {
  return { next: new Map(), ends: [] }
}

/** The ends of the keys that stand in a row of words. */
function endsIn(root: Step, words: readonly string[]): Set<Step> {
  const found = new Set<Step>()
  if (root.next.size === 0) return found
  for (let start = 0; start < words.length; start++) {
    let at = root.next.get(words[start]!)
    for (let next = start + 1; at; next++) {
      if (at.ends.length > 0) found.add(at)
      at = next < words.length ? at.next.get(words[next]!) : undefined
    }
  }
  return found
}

/** Scripts without spaces between words: each of their characters counts as a word. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`
const word = new RegExp(String.raw`${unspaced}|(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+|[^\s\p{L}\p{N}\p{M}]`, 'gu')

function wordsOf(text: string): readonly string[] {
  return text.normalize('NFC').match(word) ?? []
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
