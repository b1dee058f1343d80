import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { isTold } from '../memory/kinds.ts'
import { isLore } from '../memory/lore.ts'
import type { ChangedBackups, Forgotten, MemoryEntry, MemoryStore } from '../memory/memory.ts'
import { categoryOf, speakerOf } from '../memory/memory.ts'
import { memorySettingsOf, type OpenedPersona, type Persona, scopeOf } from '../persona.ts'
import type { ProfileLine, ProfileSlot } from '../profile-line.ts'
import {
  lineOf,
  lineText,
  memoryDigest,
  type Profile,
  type ProfileStore,
  profilePrompt,
  withEdited,
  withEnded,
  withLine,
  withoutLines,
} from './profile.ts'
import { beginsWithPronoun, linesIn, type Person, peopleIn, withPersonOf } from './rules.ts'
import { ownSentences } from './sentences.ts'

/** A fact about a user that a model found in a memory, for the profile. */
export interface ProfileFact {
  readonly slot: ProfileSlot
  readonly content: string
  readonly memory_id: string
}

/** The profiles of personas: what always holds for their users. */
export type Profiles = ReturnType<typeof createProfiles>

export interface ProfilesParts {
  readonly store: ProfileStore
  readonly memories: Pick<MemoryStore, 'get' | 'list'>
  /** Takes lines out of the persona's backups, and runs `remove`: see `Backups.forget`. */
  readonly forgetting: <T>(
    persona: Persona,
    what: Forgotten,
    remove: () => Promise<T>,
  ) => Promise<{ readonly result: T; readonly backups: ChangedBackups }>
  readonly clock: () => number
}

/** Pinned memories that a prompt may hold. */
const mostPinned = 50

/** Personas whose pinned memories are kept in memory: those that are talked to. */
const mostKept = 16

/** Milliseconds in which "he" means the person of the message before. */
const sittingMs = 30 * 60_000

/** Slots that a model may fill: wishes about its own answers come from the user's words alone. */
const slotsOfModels: ReadonlySet<ProfileSlot> = new Set(['address', 'allergy', 'diet', 'faith', 'health', 'people'])

export function createProfiles({ store, memories, forgetting, clock }: ProfilesParts) {
  /** By persona, the one that was asked last at the end. */
  const pinned = new Map<string, { readonly mark: string; readonly texts: readonly string[] }>()

  return {
    read: (persona: Persona) => store.read(scopeOf(persona)),
    /**
     * Adds a line by hand, in the slot that the rules find for its text, or `note`. Throws `invalid` beyond the bounds.
     */
    async add(
      persona: Persona,
      { slot, text }: { readonly slot?: ProfileSlot; readonly text: string },
    ): Promise<ProfileLine> {
      const checked = lineText(text)
      const line = (profile: Profile): ProfileLine => {
        const found = linesIn(checked, peopleOf(profile.lines)).filter(
          (each) => slot === undefined || each.slot === slot,
        )
        const by = { by: 'hand', id, created_at: clock() } as const
        return { ...by, slot: slot ?? found[0]?.slot ?? 'note', about: found[0]?.about ?? '', text: checked }
      }
      const id = randomUUID()
      const after = await change(persona, (profile) => withLine(profile, line(profile)))
      // A line that says the same was there.
      return (
        after.lines.find((each) => each.id === id) ?? after.lines.find((each) => each.text === checked) ?? line(after)
      )
    },
    /** Changes a line; the earlier text goes to the history. Throws `not_found`, and `invalid` beyond the bounds. */
    async edit(
      persona: Persona,
      id: string,
      { slot, text }: { readonly slot?: ProfileSlot; readonly text?: string },
    ): Promise<ProfileLine> {
      const fields = { ...(slot && { slot }), ...(text !== undefined && { text: lineText(text) }) }
      return lineOf(await change(persona, (profile) => withEdited(profile, id, fields, clock())), id)
    },
    /** Removes lines for good, from the history and the persona's backups too. Throws `not_found`. */
    async remove(persona: Persona, ids: readonly string[]): Promise<ChangedBackups> {
      const profile = await store.read(scopeOf(persona))
      const going = ids.map((id) => lineOf(profile, id))
      const isGoing = ({ id }: ProfileLine) => ids.includes(id)
      const { backups } = await forgetting(persona, { ids: [], lines: going.map(({ text }) => text) }, () =>
        change(persona, (now) => withoutLines(now, isGoing)),
      )
      return backups
    },
    /** The profile as a part of the prompt; '' for none. Reads nothing for a persona without a pinned memory. */
    async prompt(opened: OpenedPersona, withPinned: boolean): Promise<string> {
      const tokens = memorySettingsOf(opened.persona).profile_tokens
      if (tokens === 0) return ''
      const texts = withPinned && opened.pinned !== '' ? await pinnedOf(opened) : []
      return profilePrompt(opened.profile, texts, tokens)
    },
    /** Takes the lines from a user's message by the rules; `memories` are those that were stored of it. */
    async said({ persona, profile: known }: OpenedPersona, message: string, stored: readonly MemoryEntry[]) {
      const people = peopleOf(known)
      const ofPerson = beginsWithPronoun(message)
        ? withPersonOf(await messageBefore(persona, stored), message)
        : undefined
      const own = linesIn(message, people)
      const lines = ofPerson ? [...own, ...linesIn(ofPerson.message, people)] : own
      if (lines.length === 0) return
      const memoryOf = (sentence: string) =>
        stored.find(({ content }) => content.includes(sentence) || (ofPerson && content.includes(ofPerson.rest)))
      await take(
        persona,
        lines.map(({ sentence, ...line }) => ({ ...line, by: 'rule' as const, ...sourceOf(memoryOf(sentence)) })),
      )
    },
    /** Takes facts that a model found in these memories. */
    async found(persona: Persona, facts: readonly ProfileFact[], stored: readonly MemoryEntry[]) {
      const lines = facts.flatMap(({ slot, content, memory_id }) => {
        const source = stored.find(({ id }) => id === memory_id)
        if (!source || !slotsOfModels.has(slot) || ownSentences(source.content).length === 0) return []
        const about = linesIn(source.content, []).find((line) => line.slot === slot)?.about ?? ''
        return [{ slot, about, text: content, by: 'model' as const, ...sourceOf(source) }]
      })
      if (lines.length > 0) await take(persona, lines)
    },
    /** Takes lines from a memory added by hand, by the rules; wishes about answers may be those of a read page. */
    async noted(persona: Persona, memory: Pick<MemoryEntry, 'id' | 'content' | 'metadata'>) {
      if (isLore(memory.metadata) || speakerOf(memory.metadata) !== '') return
      const lines = linesIn(memory.content, []).filter(({ slot }) => slotsOfModels.has(slot))
      if (lines.length === 0) return
      await take(
        persona,
        lines.map(({ sentence: _sentence, ...line }) => ({ ...line, by: 'rule' as const, ...sourceOf(memory) })),
      )
    },
    /** Removes the lines that come from memories which are about to go. */
    async forget(persona: Persona, what: Forgotten) {
      const profile = await store.read(scopeOf(persona))
      const all = [...profile.lines, ...profile.history]
      if (all.length === 0) return
      const isGoing = await goingOf(persona, what, all)
      if (all.some(isGoing)) await change(persona, (now) => withoutLines(now, isGoing))
    },
    /**
     * Moves the lines of memories that others have ended to the history: a partner, a diet, a pregnancy. An allergy or
     * an illness goes by what is said of it alone, since one that is missing may harm.
     */
    async ended(persona: Persona, ids: readonly string[]) {
      const isOver = ({ memory_id = '', slot, about }: ProfileLine) =>
        ids.includes(memory_id) && (slot === 'diet' || about.startsWith('partner:') || about.startsWith('pregnancy'))
      if (!(await store.read(scopeOf(persona))).lines.some(isOver)) return
      await change(persona, (profile) => withEnded(profile, isOver, clock()))
    },
    /** Lets the lines of a memory follow its edited text: those that it does not say any more go to the history. */
    async follow(persona: Persona, { id, content: before }: Pick<MemoryEntry, 'id' | 'content'>, content: string) {
      if (before === content) return
      const isOf = ({ memory_id }: ProfileLine) => memory_id === id
      if (!(await store.read(scopeOf(persona))).lines.some(isOf)) return
      const source = { memory_id: id, memory_digest: memoryDigest(content) }
      await change(persona, (profile) => {
        const fresh = linesIn(content, peopleOf(profile.lines))
        let after = profile
        for (const line of profile.lines.filter(isOf)) {
          const now = fresh.find(({ slot, about }) => slot === line.slot && about === line.about)
          after = now
            ? {
                ...after,
                lines: after.lines.map((each) => (each === line ? { ...line, ...source, text: now.text } : each)),
              }
            : withoutLines(after, (each) => each === line)
        }
        return after
      })
    },
  }

  /** What the user said last before these memories, within half an hour of now; '' for nothing. */
  async function messageBefore(persona: Persona, stored: readonly MemoryEntry[]): Promise<string> {
    const after = clock() - sittingMs
    const { entries } = await memories.list(scopeOf(persona), {
      after,
      limit: stored.length + 1,
      offset: 0,
    })
    const before = entries.find((entry) => !stored.some(({ id }) => id === entry.id))
    return before && isTold(before) ? before.content : ''
  }

  /** Throws `not_found` where the persona was removed meanwhile. */
  async function change(persona: Persona, by: (profile: Profile) => Profile): Promise<Profile> {
    const after = await store.change(scopeOf(persona), by)
    if (after) return after
    throw new AppError('not_found', `Persona "${persona.id}" not found: it was removed meanwhile`)
  }

  /** Adds lines from a chat, as far as there is room: a full profile fails no answer. */
  async function take(persona: Persona, lines: readonly Omit<ProfileLine, 'id' | 'created_at'>[]): Promise<void> {
    await store.change(scopeOf(persona), (profile) => {
      let after = profile
      for (const line of lines)
        try {
          after = withLine(after, { ...line, text: lineText(line.text), id: randomUUID(), created_at: clock() })
        } catch (reason) {
          if (!(reason instanceof AppError)) throw reason
        }
      return after
    })
  }

  async function pinnedOf({ persona, pinned: mark }: OpenedPersona): Promise<readonly string[]> {
    const known = pinned.get(persona.id)
    pinned.delete(persona.id)
    const texts = known?.mark === mark ? known.texts : await readPinned(persona)
    pinned.set(persona.id, { mark, texts })
    if (pinned.size > mostKept) pinned.delete(pinned.keys().next().value!)
    return texts
  }

  async function readPinned(persona: Persona): Promise<readonly string[]> {
    const { entries } = await memories.list(scopeOf(persona), { pinned: true, limit: mostPinned, offset: 0 })
    return entries.filter(({ metadata }) => !isLore(metadata)).map(({ content }) => content)
  }

  /** Tells which lines come from memories that go. */
  async function goingOf(persona: Persona, what: Forgotten, lines: readonly ProfileLine[]) {
    if ('ids' in what) {
      const digests = new Set<string | undefined>()
      for (const id of what.ids) {
        const entry = await memories.get(scopeOf(persona), id)
        if (entry) digests.add(memoryDigest(entry.content))
      }
      return ({ memory_id = '', memory_digest, text }: ProfileLine) =>
        what.ids.includes(memory_id) ||
        (memory_digest !== undefined && digests.has(memory_digest)) ||
        what.lines?.includes(text) === true
    }
    const { category, before } = what.filter
    const going = new Set<ProfileLine>()
    for (const line of lines) {
      if (line.memory_digest === undefined || (before !== undefined && line.created_at >= before)) continue
      const source = line.memory_id === undefined ? undefined : await memories.get(scopeOf(persona), line.memory_id)
      if (category === undefined || (source && categoryOf(source.metadata) === category)) going.add(line)
    }
    const ids = new Set([...going].map(({ id }) => id))
    return ({ id }: ProfileLine) => ids.has(id)
  }
}

function sourceOf(
  memory: Pick<MemoryEntry, 'id' | 'content'> | undefined,
): Pick<ProfileLine, 'memory_id' | 'memory_digest'> {
  return memory ? { memory_id: memory.id, memory_digest: memoryDigest(memory.content) } : {}
}

function peopleOf(lines: readonly ProfileLine[]): readonly Person[] {
  return lines.flatMap(({ slot, text }) => (slot === 'people' ? peopleIn(text).map(({ person }) => person) : []))
}
