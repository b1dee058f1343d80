import type { Place } from '../cost.ts'
import { usdOf } from '../money.ts'
import { Admitted, counted, type Ground } from './admission.ts'
import { createDesk, deskForProcess, type RateDesk } from './desk.ts'
import { type Budget, defaultWarn, type LimitChange, type LimitDocument } from './documents.ts'
import type { Size, Subjects } from './limits.ts'
import { createPeriods } from './periods.ts'
import type { CountedBudget, LimitStore, SavedWindow, Spend } from './store.ts'
import { SubjectLimits } from './subject-limits.ts'

/** The limits of a subject with the state of its budgets, as the API shows them. */
export interface LimitView extends Omit<LimitDocument, 'budgets'> {
  readonly subject: string
  readonly budgets: readonly BudgetView[]
}

/** Amounts are decimal texts in USD. */
export type BudgetView = ReturnType<typeof budgetView>

/** Limits: asked by the metering of requests, and managed by operations. */
export type LimitArea = Awaited<ReturnType<typeof openLimits>>

export interface LimitParts extends Omit<Ground, 'store' | 'periods' | 'plugin' | 'cancel' | 'desk'> {
  readonly store: LimitStore
  /** Milliseconds since 1970, forward alone: for windows. */
  readonly now: () => number
  /** Another value after every change of the documents in any process; undefined while that is not known. */
  readonly mark: () => string | undefined
  /** Calls back when a change by another process is known, where requests cannot wait for the storage to tell it. */
  readonly onChange?: (listener: () => void) => void
  /** Counts rates in another process of this service, in the place of this one. */
  readonly desk?: RateDesk | undefined
  /** The storage is one of several instances, which count together. */
  readonly shared?: { readonly isAway: () => boolean; readonly goesOn: () => boolean } | undefined
}

/** A change by another process is noticed so soon: milliseconds between two looks, which cost a microsecond each. */
const lookMs = 100

/** Windows are saved so often: milliseconds. A process that is killed loses its counts since. */
const saveMs = 10_000

/** Opens the limits of a storage, with the windows that were saved last. */
export async function openLimits(parts: LimitParts) {
  const { store, now, wall, zone, warn } = parts
  const periods = createPeriods()
  const keys = new Map<string, SubjectLimits>()
  const users = new Map<string, SubjectLimits>()
  const plugins = new Map<string, SubjectLimits>()
  const everybody = new Map<string, SubjectLimits>()
  const maps = { key: keys, user: users, plugin: plugins, all: everybody }
  let revision = 0
  let seen: string | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  /** Reservations that could not be given back yet. */
  const given = new Set<string>()

  const cancel = (id: string): void => {
    const failed = () => void given.add(id)
    try {
      const done = store.cancel(id)
      if (done instanceof Promise) done.catch(failed)
    } catch {
      failed()
    }
  }
  const shared =
    parts.desk || !parts.shared
      ? undefined
      : (await import('./shared-desk.ts')).createSharedDesk({
          ...parts.shared,
          store,
          find: (subject) => find(subject)?.document,
          look,
          now,
        })
  const isElsewhere = parts.desk !== undefined || shared !== undefined
  const desk = parts.desk ?? shared ?? createDesk({ find, look, now })
  const ground: Ground = { ...parts, desk, periods, plugin: (id) => plugins.get(id), cancel }

  parts.onChange?.(update)
  seen = parts.mark()
  take(await store.changes(0))
  if (!isElsewhere)
    for (const { subject, name, slots } of await store.windows()) find(subject)?.load(name, slots, now())
  const timer = setInterval(() => save().catch((reason) => warn(`the limits are not saved: ${reason.message}`)), saveMs)
  timer.unref()

  return {
    admit(subjects: Subjects, size: () => Size) {
      look()
      if (keys.size === 0 && users.size === 0 && everybody.size === 0) return undefined
      const key = subjects.key === undefined ? undefined : keys.get(subjects.key)
      const user = users.get(subjects.user)
      const all = everybody.get('')
      if (!key && !user && !all) return undefined
      const counting: SubjectLimits[] = []
      if (key) counting.push(key)
      if (user) counting.push(user)
      if (all) counting.push(all)
      return new Admitted(ground, subjects, counting, size)
    },
    admitPlugin(subjects: Subjects, { plugin }: Place, size: () => Size) {
      if (plugin === null || plugins.size === 0 || !plugins.has(plugin)) return undefined
      return new Admitted(ground, subjects, [], size)
    },
    /** The limits of those subjects, by their names; of all without a choice. */
    async list(isWanted: (subject: string) => boolean = () => true): Promise<readonly LimitView[]> {
      await refresh()
      const wanted = [everybody, users, keys, plugins].flatMap((map) =>
        [...map.values()].filter(({ subject }) => isWanted(subject)).sort((a, b) => (a.subject < b.subject ? -1 : 1)),
      )
      return views(wanted)
    },
    /** Puts limits in the place of a subject's; its counts and spent money stay. */
    async set(subject: string, document: LimitDocument): Promise<LimitView> {
      await store.set(subject, document)
      return written(subject, document)
    },
    /** Changes a subject's limits as they are at the write, see `changedLimits`; none are left after its last. */
    change: async (subject: string, change: LimitChange) => written(subject, await store.change(subject, change)),
    /** False where the subject has none. */
    async remove(subject: string): Promise<boolean> {
      const isThere = await store.remove(subject)
      await refresh()
      return isThere
    },
    /** Begins the spend of the budgets again in the periods under way; undefined where the subject has no limits. */
    async reset(subject: string): Promise<LimitView | undefined> {
      await refresh()
      const limits = find(subject)
      if (!limits) return undefined
      await parts.flush().catch(() => undefined)
      await store.reset(limits.budgets.map((budget) => countedOf(limits.subject, budget)))
      return (await views([limits]))[0]
    },
    /** The reservations of processes that ended before they booked the attempt. */
    orphans: () => store.orphans(),
    /** A desk that counts the requests of another process of this service. */
    desk: () => deskForProcess(desk),
    save,
    async close() {
      clearInterval(timer)
      await save().catch((reason) => warn(`the limits are not saved: ${reason.message}`))
      await shared?.close()
    },
  }

  function find(subject: string): SubjectLimits | undefined {
    if (subject === 'all') return everybody.get('')
    const colon = subject.indexOf(':')
    const map = maps[subject.slice(0, colon) as 'key' | 'user' | 'plugin']
    return map?.get(subject.slice(colon + 1))
  }

  /** Looks now and then whether another process has changed a document. A failure leaves the known ones in force. */
  function look(): void {
    const at = now()
    if (at - lookedAt < lookMs) return
    lookedAt = at
    update()
  }

  function update(): void {
    const mark = parts.mark()
    if (mark !== undefined && mark === seen) return
    try {
      const changes = store.changes(revision)
      if (changes instanceof Promise)
        changes.then(take).then(
          () => {
            seen = mark
          },
          () => undefined,
        )
      else {
        take(changes)
        seen = mark
      }
    } catch {
      // The next look tries again.
    }
  }

  /** The view of limits that were just written; they may have been removed by now. */
  async function written(subject: string, document: LimitDocument): Promise<LimitView> {
    await refresh()
    const [view] = await views([find(subject) ?? new SubjectLimits(subject, document)])
    return view!
  }

  async function refresh(): Promise<void> {
    take(await store.changes(revision))
  }

  function take(changes: Awaited<ReturnType<LimitStore['changes']>>): void {
    // An answer that was overtaken by a newer one.
    if (changes.revision < revision) return
    revision = changes.revision
    for (const [subject, document] of changes.changed) {
      const known = find(subject)
      if (document === null) {
        if (known) maps[known.kind].delete(known.id)
      } else if (known) known.change(document)
      else {
        const limits = new SubjectLimits(subject, document, !isElsewhere)
        maps[limits.kind].set(limits.id, limits)
      }
    }
  }

  function countedOf(subject: string, { period, timezone = zone }: Budget): CountedBudget {
    return counted(ground, subject, period, timezone, wall())
  }

  async function views(all: readonly SubjectLimits[]): Promise<readonly LimitView[]> {
    const asked = all.flatMap(({ subject, budgets }) => budgets.map((budget) => countedOf(subject, budget)))
    const spends = asked.length > 0 ? await store.spends(asked) : []
    let at = 0
    return all.map(({ subject, document, budgets }) => {
      const { budgets: _, ...rates } = document
      return { subject, ...rates, budgets: budgets.map((budget) => budgetView(budget, zone, spends[at++]!)) }
    })
  }

  /** Saves the windows, for the next start. */
  async function save(): Promise<void> {
    for (const id of [...given]) {
      await store.cancel(id)
      given.delete(id)
    }
    if (isElsewhere) return
    const dirty = Object.values(maps).flatMap((map) => [...map.values()].filter(({ isDirty }) => isDirty))
    if (dirty.length === 0) return
    const windows: SavedWindow[] = dirty.flatMap((each) => each.saved(now()))
    for (const each of dirty) each.isDirty = false
    try {
      await store.saveWindows(
        dirty.map(({ subject }) => subject),
        windows,
      )
    } catch (reason) {
      for (const each of dirty) each.isDirty = true
      throw reason
    }
  }
}

function budgetView({ nano, period, timezone, hard = false, warn = defaultWarn }: Budget, zone: string, spend: Spend) {
  return {
    amount_usd: usdOf(nano),
    period,
    timezone: timezone ?? zone,
    hard,
    warn,
    spent_usd: usdOf(spend.spent),
    reserved_usd: usdOf(spend.reserved),
    /** Milliseconds since 1970 UTC. */
    resets_at: spend.end,
    /** Whether so much is spent that a warning is due. */
    warning: spend.spent * 100 >= nano * warn,
  }
}
