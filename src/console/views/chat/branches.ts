import type { SavedSession } from '../../wire/types.ts'

/** The conversations that have a message of their own at one place, and which of them is shown. */
export interface Versions {
  readonly ids: readonly string[]
  readonly shown: number
}

/**
 * The versions of the message at `at`, counted from 0, of a conversation: its own, that of the conversation from which others
 * left there, and theirs. Undefined where there is one alone.
 */
export function versionsAt(current: string, family: readonly SavedSession[], at: number): Versions | undefined {
  const byId = new Map(family.map((each) => [each.id, each]))
  /** The conversation among the shown one and its sources in which a message was written. */
  const writerOf = (place: number): string => {
    let id = current
    for (let each = byId.get(id); each?.branch && place < each.branch.at; each = byId.get(id)) id = each.branch.of
    return id
  }
  const base = writerOf(at - 1)
  const hasOwn = (byId.get(base)?.message_count ?? 0) > at
  const left = family.filter(({ branch }) => branch?.of === base && branch.at === at).map(({ id }) => id)
  const ids = hasOwn ? [base, ...left] : left
  const shown = ids.indexOf(writerOf(at))
  return ids.length > 1 && shown >= 0 ? { ids, shown } : undefined
}
