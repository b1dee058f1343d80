import { randomUUID } from 'node:crypto'
import type { Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import type { Persona, Personas } from '../persona.ts'
import { type Conversation, type ConversationStore, keptMessage, type SavedMessage } from './conversation.ts'

/** Saved conversations. An unknown one is `not_found`, another user's `forbidden`. */
export interface Conversations {
  /**
   * A new one, which begins with the persona's greeting if it has one; `reuse` gives back the owner's conversation of that
   * name if there is one.
   */
  create(
    owner: string,
    input: { readonly name?: string | undefined; readonly persona?: string | undefined; readonly reuse?: boolean },
  ): Promise<Conversation>
  /** By id, or by name. */
  get(owner: string, idOrName: string): Promise<Conversation>
  list(
    owner: string,
    limit: number,
    offset: number,
  ): Promise<{ readonly conversations: readonly Conversation[]; readonly total: number }>
  messages(owner: string, idOrName: string): Promise<readonly SavedMessage[]>
  append(conversation: Conversation, messages: readonly Message[]): Promise<void>
  rename(owner: string, idOrName: string, name: string): Promise<Conversation>
  remove(owner: string, idOrName: string): Promise<Conversation>
}

export interface ConversationsParts {
  readonly store: ConversationStore
  readonly personas: Pick<Personas, 'get'>
  /** The words with which a persona begins a conversation; '' for none. */
  readonly greeting: (persona: Persona) => Promise<string>
  readonly clock: () => number
}

export function createConversations({ store, personas, greeting, clock }: ConversationsParts): Conversations {
  return {
    async create(owner, { name, persona, reuse }) {
      const existing = async () => (reuse && name !== undefined ? store.named(owner, name) : undefined)
      const reused = await existing()
      if (reused) return reused
      const found = persona === undefined ? undefined : await personas.get(owner, persona)
      const now = clock()
      const id = randomUUID()
      const created = await store.create({
        id,
        user_id: owner,
        name: name ?? `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} ${id.slice(0, 4)}`,
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
    list: (owner, limit, offset) => store.list(owner, limit, offset),
    async messages(owner, idOrName) {
      return store.messages(owner, (await get(owner, idOrName)).id)
    },
    async append(conversation, messages) {
      const timestamp = clock()
      const saved = messages.map((message) => ({ message: keptMessage(message), timestamp }))
      const { user_id, id, name } = conversation
      if (!(await store.append(user_id, id, saved)))
        throw new AppError('not_found', `Session "${name}" not found: it was removed meanwhile`)
    },
    async rename(owner, idOrName, name) {
      const conversation = await get(owner, idOrName)
      if (!(await store.rename(owner, conversation.id, name))) throw nameTaken(name)
      return { ...conversation, name }
    },
    async remove(owner, idOrName) {
      const conversation = await get(owner, idOrName)
      await store.remove(owner, conversation.id)
      return conversation
    },
  }

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
