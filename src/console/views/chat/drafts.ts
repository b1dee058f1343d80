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
