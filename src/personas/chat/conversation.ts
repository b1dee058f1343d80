import { z } from 'zod'
import { type Message, textOf } from '../../chat/chat.ts'
import { displayName } from '../../formats/formats.ts'
import type { SearchGroup } from './search-words.ts'

/** A saved conversation, called a session on the wire. */
export interface Conversation {
  readonly id: string
  readonly user_id: string
  /** Unique among its owner's. */
  readonly name: string
  /** The persona that answers in it, unless a request names another. */
  readonly persona_id?: string
  readonly messages: number
  readonly branch?: Branch
  /** It stands before the others. */
  readonly pinned?: true
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  readonly updated_at: number
}

/** Leaves conversations with other personas out, with `pinned` those that are not, and those whose names lack one of `words`. */
export interface Among {
  readonly personas?: readonly string[] | undefined
  readonly pinned?: boolean | undefined
  readonly words?: readonly string[] | undefined
}

/** Where a conversation left another one: its first messages are a copy, and it went on in its own way. */
export interface Branch {
  /** The first conversation, from which all of this family come. It may be gone. */
  readonly root: string
  /** The one that it left, in which the message before `at` was written. It may be gone. */
  readonly of: string
  /** How many messages they have in common. */
  readonly at: number
}

/** A message of a saved conversation, in the shape of a chat request, and its time in milliseconds since 1970 UTC. */
export interface SavedMessage {
  readonly message: Message
  readonly timestamp: number
  /** The cost of an answer in nano-USD; absent where it is not known. */
  readonly cost?: number
  /** Of an answer alone. */
  readonly answer?: AnswerRecord
  /** The files that its references name, where it is added. */
  readonly files?: readonly KeptFile[]
}

/** The bytes of a picture, sound or file, by their SHA-256 in hexadecimal digits. */
export interface KeptFile {
  readonly hash: string
  readonly bytes: Uint8Array
}

/** The circumstances of an answer; each field is absent where it is not known. */
export const answerRecord = z.object({
  /** Its end is missing: it was stopped, or its reader left. */
  cut: z.exactOptional(z.literal(true)),
  /** The model that answered, by the plugin's or runner's own name. */
  model: z.exactOptional(z.string()),
  plugin: z.exactOptional(z.string()),
  runner: z.exactOptional(z.string()),
  /** In OpenAI's dialect. */
  finish_reason: z.exactOptional(z.string()),
  /** Tokens of the request and of the answer; estimated where the provider reported none. */
  input_tokens: z.exactOptional(z.int()),
  output_tokens: z.exactOptional(z.int()),
  /** From the request to the end of the answer: milliseconds. */
  duration_ms: z.exactOptional(z.int()),
  /** Of a summary: the number of first messages that it replaces, see compaction.ts; 0 for one that takes the earlier ones back. */
  compacts: z.exactOptional(z.int()),
  /** The calls of tools that were made here for it, with the beginning of their arguments (JSON) and results. */
  calls: z.exactOptional(
    z.array(
      z.object({
        server: z.string(),
        tool: z.string(),
        state: z.enum(['done', 'failed', 'refused']),
        arguments: z.string(),
        result: z.exactOptional(z.string()),
      }),
    ),
  ),
  /** The fields of the request beside its messages. */
  sent: z.exactOptional(
    z.object({
      /** As the user named it, where one did. */
      model: z.exactOptional(z.string()),
      plugin: z.exactOptional(z.string()),
      /** The beginning of the system prompt that came with the question. */
      prompt: z.exactOptional(z.string()),
      /** Parameters such as `temperature`. */
      options: z.exactOptional(z.record(z.string(), z.unknown())),
      tools: z.exactOptional(z.array(z.string())),
      /** The files of the question; their text stands in its message. */
      files: z.exactOptional(z.array(z.object({ name: z.string(), bytes: z.int() }))),
    }),
  ),
  /** The persona that answered, and the ids of the memories that the exchange added to hers. */
  persona_id: z.exactOptional(z.string()),
  memories: z.exactOptional(z.array(z.string())),
})
export type AnswerRecord = Frozen<z.output<typeof answerRecord>>

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** A search in the messages of a user; a message must hold each of the groups. */
export interface ConversationSearch {
  /** As `readSearch` gives them; none finds nothing. */
  readonly groups: readonly SearchGroup[]
  /** The earliest time of a message, itself included. Milliseconds since 1970 UTC. */
  readonly since?: number | undefined
  /** Only conversations with these personas. */
  readonly personas?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

export interface FoundMessage {
  readonly conversation: Pick<Conversation, 'id' | 'name' | 'persona_id'>
  /** Its place in the conversation, from 1. */
  readonly number: number
  readonly saved: SavedMessage
}

export interface NewConversation {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly persona_id?: string
  readonly branch?: Branch
  readonly created_at: number
}

/** A part of the messages of a conversation: those behind the one with the number `after`, up to that with the number `upTo`. */
export interface MessagePart {
  readonly after?: number
  readonly upTo?: number
}

/** Stores conversations. A conversation of another owner counts as absent. */
export interface ConversationStore {
  /** False when the owner has one of that name. */
  create(conversation: NewConversation): Promise<boolean>
  /** The conversation of any owner: the caller compares `user_id`. */
  find(id: string): Promise<Conversation | undefined>
  /**
   * The owner's conversation of that name; where there is none, that of the name in the other form of its accents: composed as
   * keyboards write them (Unicode NFC), or decomposed as names of a Mac's files are (NFD).
   */
  named(owner: string, name: string): Promise<Conversation | undefined>
  /** The most recently used first. */
  list(
    owner: string,
    limit: number,
    offset: number,
    among?: Among,
  ): Promise<{ readonly conversations: readonly Conversation[]; readonly total: number }>
  /** Its messages, or a part of them, in their order. */
  messages(owner: string, id: string, part?: MessagePart): Promise<readonly SavedMessage[]>
  files(owner: string, id: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /**
   * Adds messages at the end, and resolves with the number of all; undefined where the conversation is gone, or holds another
   * number of them than `expected`. Beyond a bound on the files of a user, those that were longest not added are removed.
   */
  append(
    owner: string,
    id: string,
    messages: readonly SavedMessage[],
    expected?: number | undefined,
  ): Promise<number | undefined>
  /**
   * Creates a conversation with its messages, under the first of the names that its owner has not given yet, and
   * resolves with that name; undefined where all are given. It is one of those that are kept without a name of their own,
   * until it is renamed or goes on: beyond `most` of them, the longest unused are removed, some with each call.
   */
  keep(
    conversation: Omit<NewConversation, 'name'>,
    names: readonly string[],
    messages: readonly SavedMessage[],
    most: number,
  ): Promise<string | undefined>
  /**
   * Creates a conversation with copies of the first messages of `source`, up to the number `branch.at`, under the first of the
   * names that its owner has not given yet; undefined where all are given. A copied answer names no memories, which belong to
   * the first exchange.
   */
  branch(
    conversation: Omit<NewConversation, 'name'> & { readonly branch: Branch },
    source: string,
    names: readonly string[],
  ): Promise<string | undefined>
  /** The owner's conversations of a family, the first of them included, the earliest first. */
  family(owner: string, root: string): Promise<readonly Conversation[]>
  /** Removes the user's last message and all behind it; resolves with them in order; undefined as `append`. */
  takeBack(owner: string, id: string, expected: number | undefined): Promise<readonly SavedMessage[] | undefined>
  /** Records the memories beside the answer with this number, counted from 1; nothing where there is none. */
  recordMemories(owner: string, id: string, number: number, memories: readonly string[]): Promise<void>
  /** False when it is gone or the name is taken. */
  rename(owner: string, id: string, name: string): Promise<boolean>
  /** Pins it, or takes the pin off; nothing where there is none. */
  pin(owner: string, id: string, isPinned: boolean): Promise<void>
  remove(owner: string, id: string): Promise<boolean>
  /** Removes the conversations that were last used before a time, or all, and resolves with their number. */
  removeBefore(owner: string, before: number | undefined): Promise<number>
  /** The messages of the user and the answers that match, the last saved first. */
  search(owner: string, search: ConversationSearch): Promise<readonly FoundMessage[]>
}

export const conversationName = displayName(200)

function isSystem(message: Message): boolean {
  return message.role === 'system' || message.role === 'developer'
}

/** The messages up to the user's last. */
export function withoutToolCalls(messages: readonly Message[]): readonly Message[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)
}

/** The messages that a conversation keeps: all but the prompts. */
export function spokenMessages(messages: readonly Message[]): readonly Message[] {
  return messages.filter((message) => !isSystem(message))
}

/** Follows a cut answer in the messages for a model, so that the model does not take the rest as said. */
const cutMark = '[The answer was cut off here.]'

/** Stands between a question without an answer and the next one, which alone is to be answered. */
const noAnswer: Message = { role: 'assistant', content: '[This question was not answered.]' }

/** Saved messages as a model is sent them before `next`: the end of a cut answer is marked, and where an answer is missing. */
export function sentMessages(saved: readonly SavedMessage[], next: readonly Message[]): readonly Message[] {
  const following = spokenMessages(next)[0]
  return saved.flatMap(({ message, answer }, at) => {
    if (answer?.cut) return { ...message, content: `${textOf(message.content).trimEnd()}\n\n${cutMark}` }
    const isUnanswered = message.role === 'user' && (saved[at + 1]?.message ?? following)?.role === 'user'
    return isUnanswered ? [message, noAnswer] : message
  })
}
