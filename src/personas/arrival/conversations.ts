import { damaged, fileChunks, foreignShape, jsonItems, openZip, unsupported } from '../../formats/formats.ts'
import { type Fields, isFields } from '../fields.ts'
import {
  type Arrival,
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  contentsOf,
  type ExportedConversation,
  parseForeign,
} from './arrival.ts'
import { readChatGpt } from './chatgpt.ts'
import { readClaude, readClaudeMemory, readClaudeProject } from './claude.ts'

/**
 * Exports of conversations: an archive with `conversations.json`, or that file alone. The file is a list of conversations and
 * may have gigabytes: it is read from the archive in chunks, one conversation at a time, and never unpacked.
 */

/** The files of an archive that are read. */
const exportedLists = /^(?:[^/]+\/)?(?:conversations(?:-\d{1,4})?|memories|projects)\.json$/

/** Bytes of the longest conversation that is read: one with a hundred thousand turns. */
const longestConversation = 64 * 1024 ** 2

interface Reader {
  readonly format: 'chatgpt' | 'claude'
  /** The name of a persona that is made of the export. */
  readonly name: string
  /** The memories of an item; contents without a place here are counted in the report. */
  read(item: Fields, options: ArrivalOptions, report: ArrivalReport): Iterable<ArrivedMemory>
}

/** The readers by a field of their items: an archive of Claude's holds lists of three kinds. */
const readers: readonly (readonly [field: string, reader: Reader])[] = [
  ['mapping', conversationsOf('chatgpt', 'ChatGPT', readChatGpt)],
  ['chat_messages', conversationsOf('claude', 'Claude', readClaude)],
  ['conversations_memory', { format: 'claude', name: 'Claude', read: readClaudeMemory }],
  ['project_memories', { format: 'claude', name: 'Claude', read: readClaudeMemory }],
  ['prompt_template', { format: 'claude', name: 'Claude', read: readClaudeProject }],
]

function conversationsOf(
  format: Reader['format'],
  name: string,
  read: (item: Fields, report: ArrivalReport) => ExportedConversation,
): Reader {
  return { format, name, read: (item, options, report) => memoriesOf(format, read(item, report), options, report) }
}

/** Opens a list of an export, such as `conversations.json`. Throws a FileError when its first item is of no export that is known here. */
export function openConversationFile(path: string, options: ArrivalOptions): Arrival {
  return openExport(() => jsonItems(fileChunks(path), longestConversation), options)
}

/** Opens an archive with lists of an export, of which large ones split `conversations.json` into several; undefined for any other archive. */
export function openConversationArchive(path: string, options: ArrivalOptions): Arrival | undefined {
  const zip = openZip(path, foreignShape)
  const names = [...zip.members.keys()].filter((name) => exportedLists.test(name)).sort()
  zip.close()
  if (names.length === 0) return undefined
  return openExport(function* () {
    const opened = openZip(path, foreignShape)
    try {
      for (const name of names) yield* jsonItems(opened.read(name), longestConversation)
    } finally {
      opened.close()
    }
  }, options)
}

function openExport(items: () => Iterable<Buffer | undefined>, options: ArrivalOptions): Arrival {
  const reader = readerOf(items())
  return {
    format: reader.format,
    persona: { name: reader.name, memory_settings: { enabled: true } },
    passthrough: {},
    warnings: [],
    *memories(report) {
      let number = 0
      for (const bytes of items()) {
        number++
        const item = bytes && parseItem(bytes, number)
        if (!bytes) report.leaveOut(`conversations of more than ${longestConversation} bytes`)
        else {
          const its = isFields(item) ? readers.find(([field]) => field in item)?.[1] : undefined
          if (!isFields(item) || its?.format !== reader.format) report.leaveOut('items that are no conversation')
          else yield* its.read(item, options, report)
        }
      }
    },
  }
}

/** The reader of an export, by the first of its items that is known. */
function readerOf(items: Iterable<Buffer | undefined>): Reader {
  let number = 0
  for (const bytes of items) {
    number++
    const item = bytes && parseItem(bytes, number)
    const found = isFields(item) && readers.find(([field]) => field in item)
    if (found) return found[1]
    if (number === mostSkipped) break
  }
  if (number === 0) throw unsupported('The export holds no conversation')
  throw unsupported('The file is a list, and no export of conversations that is known here (ChatGPT, Claude)')
}

/** Items without a conversation after which a list is no export. */
const mostSkipped = 1000

function parseItem(bytes: Buffer, number: number): unknown {
  try {
    return parseForeign(bytes, `conversation ${number}`)
  } catch (reason) {
    throw damaged(reason instanceof Error ? reason.message : String(reason), reason)
  }
}

function* memoriesOf(
  format: Reader['format'],
  { id, title, turns }: ExportedConversation,
  { after, withAnswers, now }: ArrivalOptions,
  report: ArrivalReport,
): Generator<ArrivedMemory> {
  let taken = 0
  for (const { speaker, text, timestamp = now } of turns) {
    if (speaker === 'assistant' && !withAnswers) report.leaveOut("the assistant's answers, which --with-answers takes")
    else if (after !== undefined && timestamp < after) report.leaveOut('turns before the given time')
    else if (text.trim() === '') report.leaveOut('turns without a text')
    else
      for (const content of contentsOf(text)) {
        taken++
        yield {
          content,
          timestamp,
          importance_score: 0.5,
          metadata: { source: format, speaker, ...(id !== '' && { conversation: id }), ...(title !== '' && { title }) },
        }
      }
  }
  if (taken > 0) report.conversations++
}
