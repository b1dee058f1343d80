import type { Attachment } from './attachments.ts'

/** What a person has typed and not sent, by the place of its chat: in this tab alone, and over a reload or a new login. */
const prefix = 'aichat-draft '

export function draftOf(place: string): string {
  return sessionStorage.getItem(prefix + place) ?? ''
}

export function keepDraft(place: string, text: string): void {
  if (text === '') return sessionStorage.removeItem(prefix + place)
  try {
    sessionStorage.setItem(prefix + place, text)
  } catch {
    // A text of megabytes exceeds the room of a page, and is kept by its field alone.
  }
}

/** The files beside it: of this page alone, which does not load again for a new login. */
const files = new Map<string, readonly Attachment[]>()

export function draftFilesOf(place: string): readonly Attachment[] {
  return files.get(place) ?? []
}

export function keepDraftFiles(place: string, kept: readonly Attachment[]): void {
  if (kept.length > 0) files.set(place, kept)
  else files.delete(place)
}

/** Gives the draft of one place to another. */
export function moveDraft(from: string, to: string): void {
  if (from === to) return
  const text = draftOf(from)
  if (text !== '') keepDraft(to, text)
  const kept = draftFilesOf(from)
  if (kept.length > 0) keepDraftFiles(to, kept)
  keepDraft(from, '')
  keepDraftFiles(from, [])
}
