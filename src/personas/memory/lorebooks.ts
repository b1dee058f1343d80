import { heavyTurn } from '../../process/process.ts'
import { memorySettingsOf, type Persona, scopeOf } from '../persona.ts'
import { type LoreEntry, LoreIndex, loreOf } from './lore.ts'
import type { MemoryEntry, MemoryStore } from './memory.ts'

/** Finds the lore of personas: see lore.ts. */
export type Lorebooks = ReturnType<typeof createLorebooks>

export interface LorebooksParts {
  readonly store: Pick<MemoryStore, 'lore' | 'get'>
  readonly clock: () => number
}

/** Characters of lore in one prompt: some 2,000 tokens. */
const mostCharacters = 8_000

/** Entries that are read and indexed at once: of the greatest length, some ten milliseconds' work. */
const pageSize = 64

/** The most personas with their keys kept in memory: those that are talked to. */
const mostKept = 16

const dayMs = 86_400_000

/** Lorebooks in a store. The keys of a persona are read once, and anew after one of its entries has changed. */
export function createLorebooks({ store, clock }: LorebooksParts) {
  /** By persona, the one that was asked last at the end. */
  const kept = new Map<string, { readonly version: number; readonly index: LoreIndex }>()

  return {
    /**
     * The memories with a key that occurs in a conversation, and the constant ones, in the order of a prompt.
     * @param version counts the changes of the persona's lore, see `OpenedPersona`
     * @param messages its texts, the last one last
     */
    async called(persona: Persona, version: number, messages: readonly string[]): Promise<readonly MemoryEntry[]> {
      if (version === 0) return []
      const index = await indexOf(persona, version)
      const found = index.match(messages, mostCharacters)
      const entries = await Promise.all(found.map(({ id }) => store.get(scopeOf(persona), id)))
      return entries.filter((entry) => entry !== undefined)
    },
  }

  async function indexOf(persona: Persona, version: number): Promise<LoreIndex> {
    const known = kept.get(persona.id)
    kept.delete(persona.id)
    const index = known?.version === version ? known.index : await read(persona)
    kept.set(persona.id, { version, index })
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!)
    return index
  }

  async function read(persona: Persona): Promise<LoreIndex> {
    const { auto_cleanup, retention_days } = memorySettingsOf(persona)
    const unexpired = auto_cleanup ? { since: clock() - retention_days * dayMs } : {}
    const index = new LoreIndex()
    for (let from: number | undefined = 0; from !== undefined; ) {
      const page = await store.lore(scopeOf(persona), unexpired, from, pageSize)
      for (const entry of page.entries.flatMap(entryOf)) index.add(entry)
      from = page.next
      // A lorebook of ten thousand entries takes 100 ms to index: others have their turns between.
      if (from !== undefined) await heavyTurn()
    }
    return index
  }
}

function entryOf({ id, metadata, content }: MemoryEntry): readonly LoreEntry[] {
  const lore = loreOf(metadata)
  return lore ? [{ id, lore, length: content.length }] : []
}
