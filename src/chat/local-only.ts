import { AppError } from '../errors.ts'
import { hostRange } from '../http/http.ts'
import { isObject } from './protocol/json-object.ts'
import type { ChatRequest } from './protocol/messages.ts'

/** Whether an address is on this machine: a loopback address, or a name that means it, which is never looked up. */
export function isLoopback(address: string): boolean {
  return URL.canParse(address) && hostRange(new URL(address).hostname) === 'loopback'
}

/** The host of an address, for messages. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address.slice(0, 100)
}

/** Whether a model is named like those that Ollama forwards to its service (https://docs.ollama.com/cloud). */
export function isCloudName(model: string): boolean {
  return /[:-]cloud$/.test(model)
}

/** The failure of a chat that must stay on this machine. `reasons` name the models left out; retries are useless. */
export function nothingHere(reasons: readonly string[], advice: readonly string[]): AppError {
  return new AppError('unavailable', 'No model on this machine can answer, and nothing was sent to another one', {
    details: [...reasons, ...advice, ...leaveOut],
    final: true,
  })
}

/** The failure of a place that the caller named, and that is not on this machine. */
export function notHere(name: string, reason: string): AppError {
  return new AppError('unavailable', `${name} was not tried, since only this machine may be asked: ${reason}`, {
    details: [
      'Name a model of this machine, such as local:NAME; aichat models list --installed shows them',
      ...leaveOut,
    ],
    final: true,
  })
}

const leaveOut = ['or let the question leave it: without --local-only (local_only), and with chat.local_only=false']

/** How deep the parts of messages are searched: a part of any dialect has its address in its first levels. */
const mostLevels = 6

/** Throws `invalid` for an address in a request that its reader would fetch from another machine. */
export function refuseAddresses({ messages, tools = [] }: Pick<Partial<ChatRequest>, 'messages' | 'tools'>): void {
  const parts = (messages ?? []).flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const foreign = tools.filter(({ type }) => type !== 'function')
  const found = [...parts.filter(({ type }) => type !== 'text'), ...foreign].flatMap((part) => addressIn(part) ?? [])
  if (found.length === 0) return
  throw new AppError('invalid', 'Invalid chat request', {
    details: found.map((url) => `${hostOf(url)} is not on this machine: send the content itself, not its address`),
  })
}

function addressIn(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') return /^https?:\/\//i.test(value) && !isLoopback(value) ? value : undefined
  if (level > mostLevels || (!Array.isArray(value) && !isObject(value))) return undefined
  for (const each of Object.values(value)) {
    const found = addressIn(each, level + 1)
    if (found !== undefined) return found
  }
  return undefined
}
