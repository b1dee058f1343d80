import { type Fields, isFields } from '../fields.ts'
import {
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  contentsOf,
  type ExportedConversation,
  idOf,
  labelOf,
  type Turn,
  timeOf,
} from './arrival.ts'

/** A conversation of Claude's data export: `chat_messages` is the list of its messages. */
export function readClaude(item: Fields, report: ArrivalReport): ExportedConversation {
  const messages = Array.isArray(item['chat_messages']) ? item['chat_messages'] : []
  if (!Array.isArray(item['chat_messages'])) report.leaveOut('conversations without messages')
  const started = timeOf(item['created_at'])
  const turns = messages.flatMap((message: unknown): readonly Turn[] => {
    const sender = isFields(message) ? message['sender'] : undefined
    if (!isFields(message) || (sender !== 'human' && sender !== 'assistant')) {
      report.leaveOut('messages of the system and of tools')
      return []
    }
    report.leaveOut('pictures and files', filesOf(message))
    const text = textOf(message, report)
    const timestamp = timeOf(message['created_at']) ?? started
    return [{ speaker: sender === 'human' ? 'user' : 'assistant', text, timestamp }]
  })
  return { id: idOf(item['uuid']), title: labelOf(item['name']), turns }
}

/** The text parts of `content`; in older exports, and where there are none, `text`. */
function textOf(message: Fields, report: ArrivalReport): string {
  const parts = Array.isArray(message['content']) ? message['content'].filter(isFields) : []
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  report.leaveOut('code, thoughts and other parts that are no talk', parts.filter(({ type }) => type !== 'text').length)
  const text = texts.join('\n').trim()
  return text === '' && typeof message['text'] === 'string' ? message['text'].trim() : text
}

function filesOf(message: Fields): number {
  return ['attachments', 'files'].reduce((sum, name) => {
    const list = message[name]
    return sum + (Array.isArray(list) ? list.length : 0)
  }, 0)
}

/** The memories of Claude in `memories.json`: a text on all conversations and one for each project, in paragraphs. */
export function* readClaudeMemory(item: Fields, { now }: ArrivalOptions): Generator<ArrivedMemory> {
  const projects = isFields(item['project_memories']) ? Object.values(item['project_memories']) : []
  for (const text of [item['conversations_memory'], ...projects]) {
    if (typeof text !== 'string') continue
    let title = ''
    for (const paragraph of text.split(/\n\s*\n/)) {
      const heading = /^(?:#+ +([^ \n][^\n]*)|\*\*([^*\n]+)\*\*:?)$/.exec(paragraph.trim())
      if (heading) title = labelOf(heading[1] ?? heading[2])
      else yield* memoriesOf(paragraph, title, now)
    }
  }
}

/** A project of `projects.json`: its description is a memory; its instructions and documents are left out. */
export function* readClaudeProject(
  item: Fields,
  { after, now }: ArrivalOptions,
  report: ArrivalReport,
): Generator<ArrivedMemory> {
  const timestamp = timeOf(item['updated_at']) ?? timeOf(item['created_at']) ?? now
  const { description, prompt_template: instructions, docs } = item
  report.leaveOut('documents of projects', Array.isArray(docs) ? docs.length : 0)
  report.leaveOut('instructions of projects', typeof instructions === 'string' && instructions.trim() !== '' ? 1 : 0)
  if (item['is_starter_project'] === true) report.leaveOut("projects of Claude's maker")
  else if (after !== undefined && timestamp < after) report.leaveOut('projects before the given time')
  else if (typeof description !== 'string' || description.trim() === '')
    report.leaveOut('projects without a description')
  else yield* memoriesOf(description, labelOf(item['name']), timestamp)
}

function* memoriesOf(text: string, title: string, timestamp: number): Generator<ArrivedMemory> {
  for (const content of contentsOf(text))
    yield { content, timestamp, importance_score: 0.5, metadata: { source: 'claude', ...(title !== '' && { title }) } }
}
