import { readFileSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { type Fields, isFields } from '../fields.ts'
import {
  type Arrival,
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  contentsOf,
  labelOf,
  parseForeign,
  timeOf,
} from './arrival.ts'

/**
 * Letta's agent files (`.af`, https://github.com/letta-ai/agent-file), which are read by the schema of
 * letta/schemas/agent_file.py, and in their first form, in which the file is one agent with `core_memory`.
 */

/** The largest agent file, in bytes: it is read at once, and the published ones have up to some hundred KB. */
const largestFile = 64 * 1024 ** 2

/** Reads an agent file. Throws `invalid` naming every problem of its frame, `too_large` for a large one. */
export function openAgentFile(path: string, options: ArrivalOptions): Arrival {
  if (statSync(path).size > largestFile)
    throw new AppError('too_large', `A Letta agent file may have ${largestFile} bytes`)
  const file = parseForeign(readFileSync(path), 'the agent file')
  const problems: string[] = []
  const { agent, others, blocks } = partsOf(isFields(file) ? file : {}, problems)
  const name = labelOf(agent['name'])
  if (name === '') problems.push('name of the agent must be a text that is not empty')
  for (const field of ['system', 'description'] as const)
    if ((agent[field] ?? undefined) !== undefined && typeof agent[field] !== 'string')
      problems.push(`${field} of the agent must be a text`)
  if (problems.length > 0) throw new AppError('invalid', 'Invalid Letta agent file', { details: problems })
  const model = isFields(agent['llm_config']) ? labelOf(agent['llm_config']['model']) : ''
  return {
    format: 'letta',
    persona: {
      name,
      ...(model !== '' && { model }),
      ...textField(agent, 'description', 'description'),
      ...textField(agent, 'system', 'system_prompt'),
      memory_settings: { enabled: true },
    },
    passthrough: {},
    warnings: [],
    *memories(report) {
      report.leaveOut('agents beyond the first', others)
      for (const [field, what] of notTaken)
        for (const holder of isFields(file) && file !== agent ? [file, agent] : [agent])
          report.leaveOut(what, sizeOf(holder[field]))
      yield* blockMemories(blocks, options, report)
      yield* passageMemories([file, agent].filter(isFields), options, report)
      yield* messageMemories(agent, name, options, report)
    },
  }
}

/** Parts of an agent file without a place here. */
const notTaken = [
  ['tools', 'tools, which are not run here'],
  ['tool_rules', 'rules for tools'],
  ['mcp_servers', 'MCP servers'],
  ['files', 'files'],
  ['sources', 'data sources'],
  ['groups', 'groups of agents'],
  ['tool_exec_environment_variables', 'environment variables of tools'],
] as const

function partsOf(file: Fields, problems: string[]) {
  if (!('agents' in file)) return { agent: file, others: 0, blocks: listOf(file, 'core_memory', problems) }
  const agents = listOf(file, 'agents', problems)
  const [first] = agents
  if (!first) problems.push('agents must hold an agent')
  const agent = first ?? {}
  const all = new Map(listOf(file, 'blocks', problems).map((block) => [block['id'], block]))
  const ids = Array.isArray(agent['block_ids']) ? agent['block_ids'] : []
  const named = ids.flatMap((id): readonly Fields[] => [all.get(id)].filter(isFields))
  const own = Array.isArray(agent['memory_blocks']) ? agent['memory_blocks'].filter(isFields) : []
  return {
    agent,
    /** Agents beside it. */
    others: Math.max(0, agents.length - 1),
    blocks: [...named, ...own],
  }
}

/** A list of objects; anything else is a problem. */
function listOf(file: Fields, name: string, problems: string[]): readonly Fields[] {
  const list = file[name] ?? []
  const objects = Array.isArray(list) ? list.filter(isFields) : []
  if (Array.isArray(list) && objects.length === list.length) return objects
  problems.push(`${name} must be a list of objects`)
  return []
}

function textField(agent: Fields, from: string, to: string): Fields {
  const text = agent[from]
  return typeof text === 'string' && text.trim() !== '' ? { [to]: text } : {}
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return isFields(value) ? Object.keys(value).length : 0
}

/** Memory blocks such as `human` and `persona`: the agent always had them in its prompt, so none is ever evicted. */
function* blockMemories(
  blocks: readonly Fields[],
  options: ArrivalOptions,
  report: ArrivalReport,
): Generator<ArrivedMemory> {
  for (const block of blocks) {
    const label = labelOf(block['label'])
    if (typeof block['value'] !== 'string' || block['value'].trim() === '') {
      report.leaveOut('empty memory blocks')
      continue
    }
    for (const content of contentsOf(block['value']))
      yield {
        content,
        timestamp: timeOf(block['updated_at']) ?? timeOf(block['created_at']) ?? options.now,
        importance_score: 1,
        metadata: { category: 'core', pinned: true, source: 'letta', ...(label !== '' && { label }) },
      }
  }
}

/** Archival passages, under the names that programs which add them use: the published schema has none yet. */
function* passageMemories(
  holders: readonly Fields[],
  options: ArrivalOptions,
  report: ArrivalReport,
): Generator<ArrivedMemory> {
  const lists = new Set(
    holders.flatMap((holder) => ['passages', 'archival_passages', 'archival_memory'].map((name) => holder[name])),
  )
  for (const list of lists)
    for (const passage of Array.isArray(list) ? list : []) {
      const text = isFields(passage) ? (passage['text'] ?? passage['content']) : passage
      const timestamp = (isFields(passage) ? timeOf(passage['created_at']) : undefined) ?? options.now
      if (typeof text !== 'string' || text.trim() === '') report.leaveOut('passages without a text')
      else if (options.after !== undefined && timestamp < options.after)
        report.leaveOut('passages before the given time')
      else
        for (const content of contentsOf(text))
          yield { content, timestamp, importance_score: 0.5, metadata: { category: 'archival', source: 'letta' } }
    }
}

/** The messages of user and assistant, as one conversation. */
function* messageMemories(
  agent: Fields,
  name: string,
  { after, now }: ArrivalOptions,
  report: ArrivalReport,
): Generator<ArrivedMemory> {
  const conversation = `letta/${name}`.slice(0, 200)
  for (const message of Array.isArray(agent['messages']) ? agent['messages'] : []) {
    const role = isFields(message) ? message['role'] : undefined
    if (!isFields(message) || (role !== 'user' && role !== 'assistant')) {
      report.leaveOut('messages of the system and of tools')
      continue
    }
    const text = role === 'user' ? userText(message) : assistantText(message)
    const timestamp = timeOf(message['created_at']) ?? now
    if (text === undefined) report.leaveOut('events that are no talk, such as logins')
    else if (text.trim() === '') report.leaveOut('messages without a text')
    else if (after !== undefined && timestamp < after) report.leaveOut('messages before the given time')
    else
      for (const content of contentsOf(text)) {
        report.conversations = 1
        yield {
          content,
          timestamp,
          importance_score: 0.5,
          metadata: { source: 'letta', speaker: role === 'user' ? 'user' : name, conversation },
        }
      }
  }
}

/** Letta wraps a user's message in JSON with its type and time; other types are events, for which this is undefined. */
function userText(message: Fields): string | undefined {
  const text = textOf(message['content'] ?? message['text'])
  const wrapped = objectIn(text)
  if (!wrapped || typeof wrapped['type'] !== 'string') return text
  return wrapped['type'] === 'user_message' && typeof wrapped['message'] === 'string' ? wrapped['message'] : undefined
}

/** Agents of the first kind answer by a call of `send_message`; their content is thoughts then. */
function assistantText(message: Fields): string {
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
  const sent = calls.flatMap((call) => {
    const made = isFields(call) && isFields(call['function']) ? call['function'] : {}
    if (made['name'] !== 'send_message' || typeof made['arguments'] !== 'string') return []
    const said = objectIn(made['arguments'])?.['message']
    return typeof said === 'string' ? [said] : []
  })
  if (sent.length > 0) return sent.join('\n')
  return calls.length > 0 ? '' : textOf(message['content'] ?? message['text'])
}

function objectIn(text: string): Fields | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value = parseForeign(Buffer.from(text), 'the message')
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part) =>
      isFields(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? [part['text']] : [],
    )
    .join('\n')
}
