import type { Quirks } from '../../protocol/dialect.ts'
import type { JsonObject } from '../../protocol/json-object.ts'
import type { ExtraContent, Message } from '../../protocol/messages.ts'

/** A conversation for dialects that keep the system prompt apart from the turns. */
export interface Conversation {
  /** Every system or developer message, wherever it stood. */
  readonly system: readonly Message[]
  readonly turns: readonly Message[]
}

/**
 * Takes the system messages out of a conversation. They stay among the turns, as the user's, where the provider has no
 * place for them (`system_as: "user"`) or where nothing else would be left: no provider answers an empty conversation.
 * Those that `isTurn` accepts keep their place and their role.
 */
export function splitSystem(
  messages: readonly Message[],
  quirks: Quirks = {},
  isTurn: (message: Message) => boolean = () => false,
): Conversation {
  const isApart = (message: Message) => isSystem(message) && !isTurn(message)
  const turns = messages.filter((message) => !isApart(message))
  if (turns.length > 0 && quirks.system_as !== 'user') return { system: messages.filter(isApart), turns }
  return { system: [], turns: messages.map((message) => (isSystem(message) ? { ...message, role: 'user' } : message)) }
}

/**
 * Groups neighbours of one side: the user's turns and the answers of tools are one side, the model's the other. A message
 * that `isAlone` accepts begins a group, and a system message among them is a group by itself.
 */
export function groupTurns(
  turns: readonly Message[],
  isAlone: (message: Message) => boolean = () => false,
): readonly (readonly Message[])[] {
  const groups: Message[][] = []
  for (const turn of turns) {
    const group = groups.at(-1)
    const isApart = isAlone(turn) || (group !== undefined && isAlone(group[0]!) && isSystem(group[0]!))
    if (group && !isApart && isModel(group[0]!) === isModel(turn)) group.push(turn)
    else groups.push([turn])
  }
  return groups
}

/**
 * Cuts a turn into messages: the answer of each tool is a message of its own, and the items between two answers stay
 * together in their place. `readAnswer` returns undefined for any other item.
 */
export function splitAnswers(
  items: readonly JsonObject[],
  readAnswer: (item: JsonObject) => Message | undefined,
  readOthers: (items: readonly JsonObject[]) => Message,
): readonly Message[] {
  const messages: Message[] = []
  let others: JsonObject[] = []
  const flush = () => {
    if (others.length > 0) messages.push(readOthers(others))
    others = []
  }
  for (const item of items) {
    const answer = readAnswer(item)
    if (answer) {
      flush()
      messages.push(answer)
    } else others.push(item)
  }
  flush()
  return messages
}

export function isModel(message: Message): boolean {
  return message.role === 'assistant'
}

/** A thing's `extra_content` for one dialect; empty where there is none. */
export function extraOf(thing: { readonly extra_content?: ExtraContent | undefined }, dialect: string): JsonObject {
  return thing.extra_content?.[dialect] ?? {}
}

/** Whether a tool's answer is marked as failed, as Anthropic's clients do. */
export function isFailedTool(message: Message): boolean {
  return message.role === 'tool' && extraOf(message, 'anthropic')['is_error'] === true
}

/** Prefix of a failed tool's answer in dialects that have no mark for it. */
export const failedTool = 'Error: '

/** `extra_content` for one dialect, to be spread into a thing; nothing where `extra` is undefined. */
export function withExtra(dialect: string, extra: JsonObject | undefined): { readonly extra_content?: ExtraContent } {
  return extra === undefined ? {} : { extra_content: { [dialect]: extra } }
}

function isSystem(message: Message): boolean {
  return message.role === 'system' || message.role === 'developer'
}
