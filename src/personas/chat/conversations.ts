import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Message, textOf } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { heavyTurn } from '../../process/process.ts'
import type { Persona, Personas } from '../persona.ts'
import type { Conversation, ConversationStore, FoundMessage, MessagePart, SavedMessage } from './conversation.ts'
import { createKeeping, storedMessages } from './keep-exchange.ts'
import { textsOf, withFiles } from './kept-files.ts'
import { hasTimeName, namesOf, timeName } from './kept-name.ts'
import { readSearch, type Snippet, snippetOf } from './search-words.ts'

/** The messages at the end among which those that are taken back are looked for, for their files. */
const mostTaken = 50

/** A message that a search found, and the piece of it around the found words. */
export interface ConversationHit extends FoundMessage {
  readonly snippet: Snippet
}

/** Saved conversations. An unknown one is `not_found`, another user's `forbidden`. */
export type Conversations = ReturnType<typeof createConversations>

export interface ConversationsParts {
  readonly store: ConversationStore
  readonly personas: Pick<Personas, 'get'>
  /** Removes memories of a persona; those that are gone are no error, nor is a persona that is. */
  readonly forget: (owner: string, persona: string, memories: readonly string[]) => Promise<void>
  /** The words with which a persona begins a conversation; '' for none. */
  readonly greeting: (persona: Persona) => Promise<string>
  /** The most conversations of one user that are kept without a name of their own. */
  readonly mostKept: number
  readonly clock: () => number
}

/** Characters of a found message that is searched for its piece in a turn of its own. */
const heavyText = 4_000

/** Keeps conversations in the store. */
export function createConversations(parts: ConversationsParts) {
  const { store, personas, greeting, clock } = parts
  return {
    /** A new one with the persona's greeting, if any; `reuse` gives back the owner's conversation of that name. */
    async create(
      owner: string,
      {
        name,
        persona,
        reuse,
      }: {
        readonly name?: string | undefined
        readonly persona?: string | undefined
        readonly reuse?: boolean
      },
    ): Promise<Conversation> {
      const existing = async () => (reuse && name !== undefined ? store.named(owner, name) : undefined)
      const reused = await existing()
      if (reused) return reused
      const found = persona === undefined ? undefined : await personas.get(owner, persona)
      const now = clock()
      const id = randomUUID()
      const created = await store.create({
        id,
        user_id: owner,
        name: name ?? timeName(id, now),
        ...(found && { persona_id: found.id }),
        created_at: now,
      })
      if (created) {
        const content = found ? await greeting(found) : ''
        const message: Message = { role: 'assistant', content }
        if (content !== '') await store.append(owner, id, [{ message, timestamp: now }])
        return (await store.find(id))!
      }
      // Another request created it between the lookup and the write.
      const meanwhile = await existing()
      if (!meanwhile) throw nameTaken(name)
      return meanwhile
    },
    get,
    /** The most recently used first. */
    list: (...asked: Parameters<ConversationStore['list']>) => store.list(...asked),
    /** Its messages, or a part of them, with references in the place of their files. */
    async messages(owner: string, idOrName: string, part?: MessagePart): Promise<readonly SavedMessage[]> {
      return store.messages(owner, (await get(owner, idOrName)).id, part)
    },
    /**
     * Messages of a conversation with their files, the latest within `room` bytes; `left` is the number of those left
     * out.
     */
    withFiles: (
      { user_id, id }: Pick<Conversation, 'id' | 'user_id'>,
      messages: readonly SavedMessage[],
      room: number,
    ) => withFiles(messages, room, (hashes) => store.files(user_id, id, hashes)),
    /**
     * Adds messages at the end, as of now: the first question names a conversation that has no name of its own.
     * Resolves with the number of all. Throws `not_found` where it was removed meanwhile, and `conflict` where it holds
     * another number than `expected`.
     */
    async add(
      conversation: Conversation,
      messages: readonly Omit<SavedMessage, 'timestamp'>[],
      expected?: number | undefined,
    ): Promise<number> {
      const timestamp = clock()
      const saved = await storedMessages(messages, timestamp)
      const { user_id, id } = conversation
      const number = await store.append(user_id, id, saved, expected)
      if (number === undefined) throw await changedMeanwhile(conversation)
      if (hasTimeName(conversation)) await nameAfter(conversation, messages)
      return number
    },
    /** Keeps an exchange as a conversation of its own, see createKeeping. */
    keep: createKeeping(parts),
    /** Removes those that were last used before a time, or all; resolves with their number. */
    removeBefore: (owner: string, before: number | undefined) => store.removeBefore(owner, before),
    /** Finds messages by words, the last saved first. `query` as of `readSearch`, `since` in ms since 1970 UTC. */
    async search(
      owner: string,
      query: string,
      options: {
        readonly limit: number
        readonly offset: number
        readonly since?: number | undefined
        readonly personas?: readonly string[] | undefined
      },
    ): Promise<readonly ConversationHit[]> {
      const groups = readSearch(query)
      const found = await store.search(owner, { ...options, groups })
      const hits: ConversationHit[] = []
      for (const hit of found) {
        const { content } = hit.saved.message
        const text = Array.isArray(content) ? textsOf(content) : textOf(content)
        if (text.length > heavyText) await heavyTurn({ user: owner })
        hits.push({ ...hit, snippet: snippetOf(text, groups) })
      }
      return hits
    },
    /**
     * Takes the last exchange away: the user's last message and all behind it, with the memories that it added.
     * Resolves with the messages, in their order, with the latest of their files within `fileRoom` bytes. Throws
     * `invalid` where the user said nothing, and the errors of `add`.
     */
    async takeBack(
      conversation: Conversation,
      expected?: number | undefined,
      fileRoom: number | undefined = 0,
    ): Promise<readonly SavedMessage[]> {
      const { user_id: owner, id, name } = conversation
      // The files go with the messages.
      const after = Math.max(0, conversation.messages - mostTaken)
      const before = fileRoom > 0 ? await store.messages(owner, id, { after }) : []
      const whole = (await withFiles(before, fileRoom, (hashes) => store.files(owner, id, hashes))).messages
      const taken = await store.takeBack(owner, id, expected)
      if (taken === undefined) throw await changedMeanwhile(conversation)
      if (taken.length === 0) throw new AppError('invalid', `Nothing was asked in the session "${name}" yet`)
      for (const { answer } of taken)
        if (answer?.persona_id !== undefined && answer.memories)
          await parts.forget(owner, answer.persona_id, answer.memories)
      // Where another message came between, the files that were read belong to others.
      const isSame = isDeepStrictEqual(before.slice(-taken.length), taken)
      return isSame ? whole.slice(-taken.length) : taken
    },
    /** A new conversation of the first `count` messages of this one. Throws `invalid` where it has fewer. */
    async branch(source: Conversation, count: number): Promise<Conversation> {
      const { id: of, user_id, name, persona_id, messages } = source
      if (count > messages)
        throw new AppError('invalid', `The session "${name}" has ${messages} messages: it cannot go on from ${count}`)
      const id = randomUUID()
      const left = leftAt(source, await family(source), count)
      const branch = { root: source.branch?.root ?? of, of: left, at: count }
      const made = { id, user_id, ...(persona_id !== undefined && { persona_id }), branch, created_at: clock() }
      if ((await store.branch(made, of, branchNames(name, id))) === undefined) throw nameTaken(name)
      return (await store.find(id))!
    },
    family,
    /** Records which memories the exchange added that ends with the message of this number, for `takeBack`. */
    recordMemories: ({ user_id, id }: Conversation, number: number, memories: readonly string[]) =>
      store.recordMemories(user_id, id, number, memories),
    async rename(owner: string, idOrName: string, name: string): Promise<Conversation> {
      const conversation = await get(owner, idOrName)
      if (!(await store.rename(owner, conversation.id, name))) throw nameTaken(name)
      return { ...conversation, name }
    },
    async pin(owner: string, idOrName: string, isPinned: boolean): Promise<Conversation> {
      const { id } = await get(owner, idOrName)
      await store.pin(owner, id, isPinned)
      return get(owner, id)
    },
    /**
     * Names a conversation after a title, unless it got another name meanwhile; resolves with the name that it has
     * then.
     */
    async retitle({ user_id: owner, id, name }: Conversation, title: string): Promise<string> {
      const now = await get(owner, id)
      return now.name === name ? nameBy(now, title) : now.name
    },
    async remove(owner: string, idOrName: string): Promise<Conversation> {
      const conversation = await get(owner, idOrName)
      await store.remove(owner, conversation.id)
      return conversation
    },
  }

  /** The conversations that began as branches of the same one as this, and that one, the earliest first. */
  function family({ id, user_id, branch }: Conversation): Promise<readonly Conversation[]> {
    return store.family(user_id, branch?.root ?? id)
  }

  /** Names a conversation by the first question among these messages, where there is one. */
  async function nameAfter(
    conversation: Conversation,
    messages: readonly Omit<SavedMessage, 'timestamp'>[],
  ): Promise<void> {
    const asked = messages.find(({ message }) => message.role === 'user')?.message.content
    const texts = Array.isArray(asked) ? asked.filter(({ type }) => type === 'text').slice(-1) : asked
    const title = textOf(texts)
    if (title.trim() !== '') await nameBy(conversation, title)
  }

  /** Gives a conversation the best name of a title that is free, and resolves with it. */
  async function nameBy({ user_id, id, name, created_at }: Conversation, title: string): Promise<string> {
    for (const each of namesOf(title, id, created_at)) if (await store.rename(user_id, id, each)) return each
    return name
  }

  /** The failure of a write: the conversation is gone, or holds other messages than the caller expects. */
  async function changedMeanwhile({ id, user_id, name }: Conversation): Promise<AppError> {
    const found = await store.find(id)
    if (found?.user_id !== user_id)
      return new AppError('not_found', `Session "${name}" not found: it was removed meanwhile`)
    return new AppError(
      'conflict',
      `The session "${name}" was changed meanwhile: it holds ${found.messages} messages`,
      {
        details: ['Read it again, and then decide'],
      },
    )
  }

  /** By id, or by name. */
  async function get(owner: string, idOrName: string): Promise<Conversation> {
    const found = (await store.find(idOrName)) ?? (await store.named(owner, idOrName))
    if (!found)
      throw new AppError('not_found', `Session "${idOrName}" not found`, {
        details: ['`aichat session list` shows yours'],
      })
    if (found.user_id !== owner) throw new AppError('forbidden', `The session "${idOrName}" belongs to another user`)
    return found
  }
}

function nameTaken(name: string | undefined): AppError {
  return new AppError('invalid', `You have a session named "${name}" already`)
}

/** The conversation in which the message before the one at `count`, counted from 0, was written; at the very start, the first. */
function leftAt(source: Conversation, family: readonly Conversation[], count: number): string {
  let at: Conversation | undefined = source
  let id = source.id
  while (at?.branch && count <= at.branch.at) {
    id = at.branch.of
    at = family.find((each) => each.id === id)
  }
  return id
}

/** The most numbers that are tried behind the name of a branch. */
const mostBranchNames = 30

/** Names of a branch: the name of its source with a number behind it, at last with its id. */
function branchNames(name: string, id: string): readonly string[] {
  const base = name.replace(/ \(\d{1,3}\)$/, '').slice(0, 180)
  const numbers = Array.from({ length: mostBranchNames }, (_, at) => `${base} (${at + 2})`)
  return [...numbers, `${base} ${id.slice(0, 8)}`]
}
