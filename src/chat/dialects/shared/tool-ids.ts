import { createHash } from 'node:crypto'
import type { Message } from '../../protocol/messages.ts'

/** Ids that we made for calls of a dialect which has none; they are left out again when such a dialect is written. */
const madePrefix = 'call_aichat_'

/** An id for the `count`-th call (from 0) of a conversation or answer named `where`: the same input gives the same id. */
export function generatedId(where: string, count: number): string {
  const name = where === '' ? '' : `${createHash('sha256').update(where).digest('hex').slice(0, 12)}_`
  return `${madePrefix}${name}${count}`
}

/** Whether an id of a call is absent or was made by `generatedId`: the provider sent none. */
export function isGeneratedId(id: string | undefined): boolean {
  return id === undefined || id === '' || id.startsWith(madePrefix)
}

/** The tool that each message answers: with repeated ids, the last call before the answer counts. */
export function answeredNames(messages: readonly Message[]): ReadonlyMap<Message, string> {
  const answered = new Map<Message, string>()
  const calls = messages.flatMap((message) => message.tool_calls ?? [])
  const names = new Map(calls.map((call) => [call.id, call.function?.name ?? '']))
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function?.name ?? '')
    const name = names.get(message.tool_call_id ?? '')
    if (name) answered.set(message, name)
  }
  return answered
}

/**
 * The conversation with every id of a tool call that does not match `pattern` renamed, the same everywhere in it.
 * The same id always gets the same name. An id is left alone when no name that we know to make matches the pattern.
 */
export function renameToolIds(messages: readonly Message[], pattern: string): readonly Message[] {
  const allowed = new RegExp(pattern)
  const names = new Map<string, string>()
  const taken = new Set(messages.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id)))

  function rename(id: string): string {
    if (allowed.test(id)) return id
    const known = names.get(id)
    if (known !== undefined) return known
    const name = candidates(id).find((candidate) => allowed.test(candidate) && !taken.has(candidate)) ?? id
    names.set(id, name)
    taken.add(name)
    return name
  }

  return messages.map((message) => {
    if (message.tool_calls?.length)
      return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: rename(call.id) })) }
    return message.tool_call_id === undefined ? message : { ...message, tool_call_id: rename(message.tool_call_id) }
  })
}

/** Names for an id in the shapes that providers use: 9 alphanumerics (Mistral), `call_` and 24 (OpenAI), `toolu_` (Anthropic). */
function candidates(id: string): readonly string[] {
  const spelled = id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  const digests = [0, 1, 2].map((round) => createHash('sha256').update(`${round}:${id}`).digest('hex'))
  return [
    spelled,
    ...digests.map((digest) => digest.slice(0, 9)),
    ...digests.map((digest) => `call_${digest.slice(0, 24)}`),
    ...digests.map((digest) => `toolu_${digest.slice(0, 24)}`),
    ...digests.map((digest) => digest.slice(0, 32)),
    ...digests,
  ]
}
