import type { Dialect, WireRequest } from '../protocol/dialect.ts'
import { type JsonObject, stringOf } from '../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Tool } from '../protocol/messages.ts'
import { changedSampling } from './anthropic/sampling.ts'
import { foreignFields, type Owner, unknownInMessages } from './shared/foreign-fields.ts'
import { titles } from './shared/media-support.ts'
import { withTools } from './shared/plain-tools.ts'
import { lostFields } from './shared/request-fields.ts'

/**
 * The parts of a request that are not in the one sent for it, one sentence each: tools that another provider runs itself, and
 * settings unknown to the dialect or refused by the model; also the values that were changed. `request` is the one that the
 * dialect wrote, and `sent` the body that it made of it. Content shown to the model is never left out: the dialect refuses the
 * request instead, see media-support.ts.
 */
export function unsupportedFields(asked: ChatRequest, id: Dialect['id'], sent: WireRequest['body']): readonly string[] {
  const isOpenai = id === 'openai-chat'
  const request = isOpenai ? asked : withTools(asked)
  const { unknown, refused } = lostFields(request, id, sent)
  const tools = (request.tools ?? []).filter((tool) => !knowsTool(tool, id)).map(toolName)
  const names = [
    ...tools.map((name) => `the tool ${name}`),
    ...unknown.map((name) => (name === 'response_format' ? formatName(request) : name)),
    ...(isOpenai ? [] : unknownInMessages(request)),
    ...foreignFields(request, own[id]),
  ]
  const changed = id === 'anthropic-messages' ? changedSampling(request, sent) : []
  if (names.length === 0 && refused.length === 0) return changed
  return [...sentencesOn(request, id, names, refused), ...changed]
}

function formatName({ response_format: format }: ChatRequest): string {
  return `response_format ${(stringOf(format!.type) ?? '').slice(0, 60)}`
}

function sentencesOn(
  { model }: ChatRequest,
  id: Dialect['id'],
  names: readonly string[],
  refused: readonly string[],
): readonly string[] {
  return [
    ...(names.length > 0 ? [`${names.join(', ')}: left out, since ${titles[id]} does not know it`] : []),
    ...(refused.length > 0 ? [`${refused.join(', ')}: left out, since ${model} refuses it`] : []),
  ]
}

/** The key of a dialect's own fields in `extra_content`. */
const own: Readonly<Partial<Record<Dialect['id'], Owner>>> = {
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  ollama: 'ollama',
}

function knowsTool(tool: Tool | ForeignPart, id: Dialect['id']): boolean {
  if (tool.type === 'foreign') return tool.dialect === own[id]
  return tool.type === 'function' || id === 'openai-chat'
}

function toolName(tool: Tool | ForeignPart): string {
  const { type, name } = tool.type === 'foreign' ? tool.value : (tool as unknown as JsonObject)
  const [first = 'without a name'] = tool.type === 'foreign' ? Object.keys(tool.value) : []
  return [name, type, first].find((text) => typeof text === 'string')!.slice(0, 60)
}
