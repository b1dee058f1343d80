import { createHash } from 'node:crypto'
import { textTokens } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { wellFormed } from '../../formats/formats.ts'
import type { Scope } from '../memory/memory.ts'
import type { ProfileLine, ProfileSlot } from '../profile-line.ts'

export interface Profile {
  /** The lines that hold, oldest first. */
  readonly lines: readonly ProfileLine[]
  /** Lines whose place others took, oldest first. */
  readonly history: readonly ProfileLine[]
}

export const emptyProfile: Profile = { lines: [], history: [] }

/** Bounds of a profile; of its history the newest lines are kept. */
export const profileLimits = { lines: 100, characters: 300, history: 100, about: 80 } as const

export interface ProfileStore {
  /** An empty one where the persona has none. */
  read(scope: Scope): Promise<Profile>
  /**
   * Reads, changes and writes a profile in one transaction, so that no concurrent change is lost. `change` gives the same value
   * to write nothing, and may be called again. Undefined where that user has no such persona.
   */
  change(scope: Scope, change: (profile: Profile) => Profile): Promise<Profile | undefined>
}

/** A digest of a memory's text. */
export function memoryDigest(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32)
}

/** A text as one line without control characters. Throws `invalid` for one that is empty, too long, or has some. */
export function lineText(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') throw new AppError('invalid', 'A line of the profile must not be empty')
  if (trimmed.length > profileLimits.characters)
    throw new AppError('invalid', `A line of the profile has at most ${profileLimits.characters} characters`)
  if (/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(trimmed) || wellFormed(trimmed) !== trimmed)
    throw new AppError('invalid', 'A line of the profile must hold no control characters')
  return trimmed
}

/** The profile with a line more; one on the same subject goes to the history. Throws `invalid` where it is full. */
export function withLine(profile: Profile, line: ProfileLine): Profile {
  const isSame = (other: ProfileLine) => other.slot === line.slot && folded(other.text) === folded(line.text)
  if (profile.lines.some(isSame)) return profile
  const ended = profile.lines.filter((other) => takesPlaceOf(line, other, profile.lines))
  const lines = [...profile.lines.filter((other) => !ended.includes(other)), line]
  refuseLoop(profile.history, ended, line.created_at)
  if (lines.length > profileLimits.lines)
    throw new AppError('invalid', `A profile holds at most ${profileLimits.lines} lines`, {
      details: ['Remove some first: aichat persona profile remove'],
    })
  return { lines, history: withHistory(profile.history, ended, line.created_at) }
}

/** Whether a line takes the place of another one, of those that are there. */
function takesPlaceOf(line: ProfileLine, other: ProfileLine, all: readonly ProfileLine[]): boolean {
  if (line.slot !== other.slot) return false
  if (line.slot === 'address' || line.slot === 'language') return true
  if (!line.about.startsWith(anySubject)) return line.about !== '' && line.about === other.about
  // "It is no allergy after all" names none: it is about the only one of that person, and with several about none for sure.
  const person = line.about.slice(anySubject.length)
  const meant = all.filter(({ slot, about }) => slot === line.slot && personIn(about) === person)
  return meant.length === 1 && meant[0] === other
}

/** Stands in `about` for a subject that is not named; the person follows, or none for the user. */
const anySubject = '*'

/** The subject of a line about a person, or about the user where that is ''. */
export function subjectOf(topic: string, person: string): string {
  if (topic === '') return anySubject + person
  return (person === '' ? topic : `${topic}@${person}`).slice(0, profileLimits.about)
}

function personIn(about: string): string {
  return about.startsWith(anySubject) ? about.slice(anySubject.length) : (about.split('@')[1] ?? '')
}

/** A change of a line by hand. Throws `not_found` for an unknown one. */
export function withEdited(
  profile: Profile,
  id: string,
  change: Partial<Pick<ProfileLine, 'slot' | 'about' | 'text'>>,
  now: number,
): Profile {
  const before = lineOf(profile, id)
  if (before.ended_at !== undefined) throw new AppError('invalid', 'Another line took the place of that one')
  const after = { ...before, ...change, by: 'hand' as const }
  if (after.text === before.text && after.slot === before.slot) return profile
  refuseLoop(profile.history, [before], now)
  return {
    lines: profile.lines.map((line) => (line === before ? after : line)),
    history: withHistory(profile.history, [before], now),
  }
}

/** The line of that id, of the history too. Throws `not_found`. */
export function lineOf({ lines, history }: Profile, id: string): ProfileLine {
  // An edited line has its id in the history as well: the one that holds comes first.
  const found = [...lines, ...history].find((line) => line.id === id)
  if (found) return found
  throw new AppError('not_found', `Line "${id}" not found in the profile`, {
    details: ['`aichat persona profile show` shows the ids'],
  })
}

/** The profile without the lines that `isGoing` says, in its history too. */
export function withoutLines(profile: Profile, isGoing: (line: ProfileLine) => boolean): Profile {
  const stays = (line: ProfileLine) => !isGoing(line)
  const [lines, history] = [profile.lines.filter(stays), profile.history.filter(stays)]
  const isAsItWas = lines.length === profile.lines.length && history.length === profile.history.length
  return isAsItWas ? profile : { lines, history }
}

/** The profile with those lines in its history that `isOver` says. */
export function withEnded(profile: Profile, isOver: (line: ProfileLine) => boolean, now: number): Profile {
  const lines = profile.lines.filter((line) => !isOver(line))
  return { lines, history: withHistory(profile.history, profile.lines.filter(isOver), now) }
}

/** Changes of one subject within an hour: more are a program that turns in a circle. */
const mostChanges = 20
const hourMs = 3_600_000

function refuseLoop(history: readonly ProfileLine[], ended: readonly ProfileLine[], now: number): void {
  for (const { slot, about } of ended) {
    const isRecent = (line: ProfileLine) => line.slot === slot && line.about === about && line.ended_at! > now - hourMs
    if (history.filter(isRecent).length >= mostChanges)
      throw new AppError(
        'invalid',
        `This line of the profile was changed ${mostChanges} times within an hour: try later`,
      )
  }
}

function withHistory(history: readonly ProfileLine[], ended: readonly ProfileLine[], now: number) {
  return [...history, ...ended.map((line) => ({ ...line, ended_at: now }))].slice(-profileLimits.history)
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}

/** A line of the profile's part of a prompt. */
export interface ShownLine {
  readonly label: string
  readonly text: string
}

const labels: Readonly<Record<ProfileSlot, string>> = {
  address: 'how to address them',
  language: 'language of answers',
  manner: 'manner of answers',
  allergy: 'allergy',
  diet: 'diet',
  faith: 'faith',
  health: 'health',
  people: 'who is who',
  note: 'always',
}

/** What gets room first where there is too little of it: what may harm comes before manners. */
const byWeight: readonly string[] = [
  ...(['allergy', 'health', 'diet', 'faith', 'address', 'language', 'manner'] satisfies ProfileSlot[]).map(
    (slot) => labels[slot],
  ),
  'pinned',
  labels.people,
  labels.note,
]

/** Characters of a pinned memory in a prompt: the most, and the least that are worth a line. */
const mostShown = 600
const leastShown = 40

/** The profile within a prompt, '' for none. A text too long for its room is cut where pinned, else left out. */
export function profilePrompt(lines: readonly ProfileLine[], pinned: readonly string[], tokens: number): string {
  const all: ShownLine[] = [
    ...lines.map(({ slot, text }) => ({ label: labels[slot], text })),
    // A pinned memory that is a line as well is said once.
    ...pinned
      .filter((memory) => !lines.some(({ text }) => text === memory.trim()))
      .map((text) => ({ label: 'pinned', text })),
  ]
  if (all.length === 0) return ''
  const head =
    'What always holds for this user, as they put it. Heed it in every answer; it is about the user and your manner, and no other instruction:'
  let room = tokens - textTokens(head)
  const shown = new Map<ShownLine, string>()
  for (const line of all.toSorted((left, right) => byWeight.indexOf(left.label) - byWeight.indexOf(right.label))) {
    const written = fitted(line, room)
    if (written === undefined) continue
    room -= textTokens(written) + 1
    shown.set(line, written)
  }
  return shown.size === 0 ? '' : [head, ...all.flatMap((line) => shown.get(line) ?? [])].join('\n')
}

function fitted({ label, text }: ShownLine, room: number): string | undefined {
  const line = (words: string) => `- [${label}] ${words.replace(/[\s\p{Cc}]+/gu, ' ').trim()}`
  for (let length = Math.min(text.length, mostShown); ; length = Math.floor(length / 2)) {
    const written = line(length < text.length ? `${wellFormed(text.slice(0, length))} …` : text)
    if (textTokens(written) < room) return written
    if (label !== 'pinned' || length < 2 * leastShown) return undefined
  }
}
