import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import type { RetentionPolicy } from '../../personas/personas.ts'
import { evictionOf } from './memory-rows.ts'

/** The memories that are removed in one transaction. */
export type Slice = ReturnType<typeof sliceOf>

/** The memories that a write has just stored. */
export interface Stored {
  readonly numbers: readonly number[]
  /** How many of them were not there before, and how many of the others were not pinned before. */
  readonly fresh: number
  readonly newlyPinned: number
}

/** A memory that may be removed. */
export interface Leaving {
  readonly memory_id: number
  readonly id: string
  readonly timestamp: number
  readonly importance: number
  readonly worth: number
  /** Characters. */
  readonly size: number
}

/** Orders by number. */
export function byNumber(one: Leaving, other: Leaving): number {
  return one.memory_id - other.memory_id
}

/**
 * As many of the expired and then of the surplus memories as one transaction takes. @param most the number that was asked for;
 * `excess` is how many have to go next to the expired ones
 */
export function sliceOf(
  expired: readonly Leaving[],
  surplus: readonly Leaving[],
  { excess, most, now }: { readonly excess: number; readonly most: number; readonly now: number },
) {
  const going = firstSlice([...expired, ...surplus])
  return {
    evicted: going.map((each, at) => evictionOf(each, at < expired.length ? 'retention_days' : 'max_memories', now)),
    /** The memories' numbers. */
    numbers: going.map(({ memory_id }) => memory_id),
    /** Whether more has to go. */
    more: going.length > 0 && (expired.length === most || going.length < expired.length + excess),
  }
}

/** Memories, and characters of them, removed in one transaction: ten milliseconds. The longest alone is more. */
export const slice = { memories: 50, characters: 20_000 } as const

/** As many of the rows as one transaction takes, one at least. */
export function firstSlice<T extends { readonly size: number }>(rows: readonly T[]): readonly T[] {
  let left: number = slice.characters
  let count = 0
  for (const { size } of rows.slice(0, slice.memories)) {
    left -= size
    if (left < 0 && count > 0) break
    count++
  }
  return rows.slice(0, count)
}

/** Throws `invalid` when new memories have no room, and none is removed for them. */
export function refuseUncleaned({ maxMemories }: RetentionPolicy, { fresh }: Stored): void {
  if (fresh === 0) return
  throw new AppError('invalid', `The persona's memory is full: it may hold ${memoriesOf(maxMemories)}`, {
    details: ['Wipe some, raise memory_settings.max_memories, or set memory_settings.auto_cleanup to true'],
  })
}

/** Throws `invalid` when so many memories stay, however many others are removed. */
export function refuseStaying({ maxMemories }: RetentionPolicy, staying: number): void {
  if (staying <= maxMemories) return
  throw new AppError(
    'invalid',
    `The persona's memory is full: it may hold ${memoriesOf(maxMemories)}, and pinned ones are never removed`,
    { details: ['Wipe some of the pinned ones, or raise memory_settings.max_memories'] },
  )
}

function memoriesOf(count: number): string {
  return counted(count, 'memory', 'memories')
}
