import { type Fields, isFields } from '../fields.ts'
import { type ArrivalReport, type ExportedConversation, idOf, labelOf, type Turn, timeOf } from './arrival.ts'

/**
 * A conversation of ChatGPT's data export: `mapping` is a tree of messages by id, since answers can be made anew and
 * questions edited. The branch that ends in `current_node` is the one that its program shows.
 */
export function readChatGpt(item: Fields, report: ArrivalReport): ExportedConversation {
  const mapping = isFields(item['mapping']) ? item['mapping'] : {}
  if (!isFields(item['mapping'])) report.leaveOut('conversations without messages')
  const started = timeOf(item['create_time'])
  const nodes = branchOf(mapping, item['current_node'])
  const spoken = Object.values(mapping).filter((node) => isFields(node) && isSpoken(node['message'])).length
  const turns: Turn[] = []
  for (const node of nodes) {
    const message = node['message']
    if (!isFields(message)) continue
    const turn = turnOf(message, started, report)
    if (turn) turns.push(turn)
  }
  const own = nodes.filter((node) => isSpoken(node['message'])).length
  report.leaveOut('turns that were edited or answered anew later', spoken - own)
  return { id: idOf(item['conversation_id'], item['id']), title: labelOf(item['title']), turns }
}

/** The nodes of the shown branch, from its root; of a tree without a valid `current_node` the branch of the newest children. */
function branchOf(mapping: Fields, current: unknown): readonly Fields[] {
  const seen = new Set<string>()
  const node = (id: unknown): Fields | undefined => {
    // A node that refers back to an earlier one would go round for ever.
    if (typeof id !== 'string' || seen.has(id) || !Object.hasOwn(mapping, id)) return undefined
    seen.add(id)
    const found = mapping[id]
    return isFields(found) ? found : undefined
  }
  const upwards: Fields[] = []
  for (let at = node(current); at; at = node(at['parent'])) upwards.push(at)
  if (upwards.length > 0) return upwards.reverse()
  const downwards: Fields[] = []
  const root = Object.entries(mapping).find(
    ([, each]) => isFields(each) && (typeof each['parent'] !== 'string' || !Object.hasOwn(mapping, each['parent'])),
  )
  for (let at = node(root?.[0]); at; at = node(lastOf(at['children']))) downwards.push(at)
  return downwards
}

function lastOf(list: unknown): unknown {
  return Array.isArray(list) ? list.at(-1) : undefined
}

function roleOf(message: Fields): unknown {
  return isFields(message['author']) ? message['author']['role'] : undefined
}

function isSpoken(message: unknown): boolean {
  return isFields(message) && (roleOf(message) === 'user' || roleOf(message) === 'assistant')
}

function turnOf(message: Fields, started: number | undefined, report: ArrivalReport): Turn | undefined {
  const role = roleOf(message)
  const metadata = isFields(message['metadata']) ? message['metadata'] : {}
  const content = isFields(message['content']) ? message['content'] : {}
  if (role !== 'user' && role !== 'assistant') {
    report.leaveOut('messages of the system and of tools')
    return undefined
  }
  if (metadata['is_visually_hidden_from_conversation'] === true) {
    report.leaveOut('hidden messages')
    return undefined
  }
  const type = content['content_type']
  if (type !== 'text' && type !== 'multimodal_text') {
    report.leaveOut(
      type === 'user_editable_context' ? 'custom instructions' : 'code, thoughts and other parts that are no talk',
    )
    return undefined
  }
  // An answer to a tool is a call of it.
  if (role === 'assistant' && typeof message['recipient'] === 'string' && message['recipient'] !== 'all') {
    report.leaveOut('calls of tools')
    return undefined
  }
  const parts = Array.isArray(content['parts']) ? content['parts'] : []
  const texts = parts.flatMap((part: unknown) => {
    if (typeof part === 'string') return [part]
    const { content_type: kind, text } = isFields(part) ? part : {}
    if (kind === 'audio_transcription' && typeof text === 'string') return [text]
    report.leaveOut(/audio/.test(String(kind)) ? 'recordings of spoken turns' : 'pictures and files')
    return []
  })
  const text = texts.join('\n').trim()
  if (text === '' && texts.length < parts.length) return undefined
  return { speaker: role, text, timestamp: timeOf(message['create_time']) ?? started }
}
