import { closeSync, fstatSync, openSync } from 'node:fs'
import type { FileKind } from '../../formats/file-kind.ts'
import { memberSpans } from '../../formats/json/spans.ts'
import { personaOfCard, unusedOf, withoutLore } from '../card/card.ts'
import { type CardFile, readCardFile } from '../card/card-file.ts'
import { readLorebook } from '../card/lorebook.ts'
import type { Arrival, ArrivalOptions } from './arrival.ts'
import { openConversationArchive, openConversationFile } from './conversations.ts'
import { isAgentFile, isJsonLines, isLorebook } from './detect.ts'
import { openJsonLines } from './json-lines.ts'
import { openAgentFile } from './letta.ts'
import { openLorebook, standaloneLorebook } from './lorebook.ts'

/** Opens a plain file by its first bytes and its directory; undefined where only a whole look can tell it from a package. */
export function openByKind(path: string, kind: FileKind, options: ArrivalOptions): Arrival | undefined {
  if (kind === 'list') return openConversationFile(path, options)
  if (kind === 'json') return isJsonLines(path) ? openJsonLines(path, options) : undefined
  if (kind !== 'zip' && kind !== 'png') return undefined
  const card = readCardFile(path)
  if (card) return openCard(card, options)
  return kind === 'zip' ? openConversationArchive(path, options) : undefined
}

/** Opens a JSON object that is no package: a character card, a lorebook or an agent file; undefined for any other. */
export function openByNames(path: string, options: ArrivalOptions): Arrival | undefined {
  const names = namesOf(path)
  if (isAgentFile(names)) return openAgentFile(path, options)
  const book = isLorebook(names) || names.has('spec') ? standaloneLorebook(path) : undefined
  if (book) return openLorebook(book, options)
  const card = readCardFile(path)
  return card && openCard(card, options)
}

function namesOf(path: string): ReadonlyMap<string, unknown> {
  const file = openSync(path, 'r')
  try {
    return memberSpans(file, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function openCard({ card, portrait, assets }: CardFile, { now }: ArrivalOptions): Arrival {
  const book = readLorebook(card.data['character_book'], now, 'card')
  return {
    format: 'card',
    persona: personaOfCard(card),
    passthrough: { card: withoutLore(card, book.kept), ...(portrait !== undefined && { portrait }) },
    warnings: unusedOf(card, book.patterns),
    memories(report) {
      for (const [reason, count] of book.leftOut) report.leaveOut(reason, count)
      report.leaveOut('files of the archive, of which only a PNG icon is kept', assets)
      return book.memories
    },
  }
}
