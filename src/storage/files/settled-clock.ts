import { join } from 'node:path'
import { openNote } from './note.ts'

/** How long the clock must go on steadily after a gap, and how far back it may be set without one: milliseconds of a day. */
const dayMs = 86_400_000

/** A longer step forward is a gap: a machine may be off for weeks, and commands may come once a month. */
const forwardMs = 32 * dayMs

/** The file is written so often at the most: milliseconds. */
const noteMs = 600_000

interface Mark {
  /** The latest time that was seen. */
  readonly seen: number
  /** After a gap: since when the clock goes steadily again, and the time that counts meanwhile. */
  readonly rest?: { readonly since: number; readonly at: number }
}

/**
 * The clock that decides about expiry. After a gap (a clock that was set, or a machine that was off for more than a
 * month) it stands still at the last time before, for a day of steady running: a clock that is a year ahead by mistake
 * would remove for good all data with a retention of up to a year. The file keeps its state across restarts.
 */
export function openSettledClock(folder: string, clock: () => number = Date.now): () => number {
  const note = openNote(join(folder, 'clock.json'))
  let mark: Mark | undefined
  let written = 0
  return () => {
    const now = clock()
    mark ??= markIn(note.read())
    const next = nextMark(mark, now)
    // A gap and its end are noted at once, the steady course now and then.
    if (mark === undefined || next.rest !== mark.rest || Math.abs(now - written) > noteMs) {
      written = now
      note.write(JSON.stringify(next))
    }
    mark = next
    return next.rest ? Math.min(now, next.rest.at) : now
  }
}

function nextMark(mark: Mark | undefined, now: number): Mark {
  if (mark === undefined) return { seen: now }
  const step = now - mark.seen
  if (step > forwardMs || step < -dayMs)
    return { seen: now, rest: { since: now, at: Math.min(mark.rest?.at ?? mark.seen, mark.seen) } }
  if (mark.rest && now - mark.rest.since < dayMs) return { seen: now, rest: mark.rest }
  return { seen: now }
}

function markIn(text: string | undefined): Mark | undefined {
  try {
    const { seen, rest } = JSON.parse(text ?? '') as Partial<Mark>
    if (!Number.isFinite(seen)) return undefined
    return rest && Number.isFinite(rest.since) && Number.isFinite(rest.at) ? { seen: seen!, rest } : { seen: seen! }
  } catch {
    return undefined
  }
}
