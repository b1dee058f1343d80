import { type Fields, isFields } from '../fields.ts'
import { type ArrivalReport, type ExportedConversation, idOf, labelOf, type Turn, timeOf } from './arrival.ts'

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
