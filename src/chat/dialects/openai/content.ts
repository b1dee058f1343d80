import { isObject, type JsonObject, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ExtraContent } from '../../protocol/messages.ts'

/** The fields of a message or delta that converters read, each with its type; null means "nothing" in all of them. */
const shapes: readonly (readonly [name: string, fits: (value: unknown) => boolean])[] = [
  ['content', (value) => typeof value === 'string' || Array.isArray(value)],
  ['refusal', (value) => typeof value === 'string'],
  ['reasoning_content', (value) => typeof value === 'string'],
  ['reasoning_details', (value) => Array.isArray(value) && value.every(isDetail)],
  ['tool_calls', (value) => Array.isArray(value)],
  ['extra_content', (value) => isObject(value) && Object.values(value).every(isObject)],
]

/** The thing itself where its fields have their types, else a copy without those that do not. */
export function withFittingFields(thing: JsonObject): JsonObject {
  let copy: Record<string, unknown> | undefined
  for (const [name, fits] of shapes) {
    const value = thing[name]
    if (value === undefined || value === null || fits(value)) continue
    copy ??= { ...thing }
    delete copy[name]
  }
  return copy ?? thing
}

const detailFields = ['type', 'text', 'signature', 'data', 'format', 'summary']

function isDetail(value: unknown): boolean {
  return isObject(value) && detailFields.every((name) => value[name] == null || typeof value[name] === 'string')
}

/** Splits the list of parts that Mistral's reasoning models answer with into text and thinking. */
export function splitContent(content: readonly unknown[]): { text: string; thinking: string } {
  let text = ''
  let thinking = ''
  for (const part of objectsOf(content)) {
    if (part['type'] === 'thinking') thinking += textIn(part['thinking'])
    else text += stringOf(part['text']) ?? ''
  }
  return { text, thinking }
}

function textIn(parts: unknown): string {
  if (typeof parts === 'string') return parts
  return objectsOf(parts)
    .map((part) => stringOf(part['text']) ?? '')
    .join('')
}

/** Removes fields of other dialects but `extra_content.google`, for Gemini's gateways, unless the host is `strict`. */
export function withoutExtra<T extends object>(thing: T, strict = false): T {
  const extra = (thing as { extra_content?: ExtraContent }).extra_content
  if (extra === undefined) return thing
  const { extra_content: _extra, ...rest } = thing as T & { extra_content?: ExtraContent }
  const kept = strict || !isObject(extra) ? [] : Object.entries(extra).filter(([name]) => !ownNames.includes(name))
  return (kept.length > 0 ? { ...rest, extra_content: Object.fromEntries(kept) } : rest) as T
}

const ownNames = ['aichat', 'anthropic', 'gemini', 'ollama', 'responses']
