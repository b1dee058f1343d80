import { setTimeout as delay } from 'node:timers/promises'
import { openStorage, type Storage, type StorageSettings } from '../../../src/storage/open-storage.ts'
import type { StoredLimits } from '../../../src/storage/shared/limits.ts'

export type StoreName = Exclude<keyof Storage, 'check' | 'close' | 'deferCleanup' | 'patiently' | 'shared'>

/** The kinds of promise that a store makes; each rule tests one. */
export type Topic =
  | 'edits'
  | 'filters'
  | 'scopes'
  | 'order'
  | 'ties'
  | 'limits'
  | 'snapshots'
  | 'revisions'
  | 'concurrency'
  | 'crash'

/** One promise of the storage port, as every implementation must keep it. */
export interface Rule {
  readonly store: StoreName
  readonly topic: Topic
  /** The promise, as the name of its test. */
  readonly says: string
  /** Given where one transaction stays open while another one begins: a database of one session cannot show it. */
  readonly sessions?: 2
  /** Of the storage that it is tested on; without them it is practically unlimited. */
  readonly limits?: StoredLimits
  /** Throws where the promise is broken. */
  holds(place: Place): Promise<void>
}

/** An empty storage of its own, which may be opened more than once. */
export interface Place {
  readonly settings: StorageSettings
  /** The name of the flaw that the storage is given; undefined for a sound one. */
  readonly flaw: string | undefined
  /** Another connection, as of another process. */
  open(): Promise<Storage>
  /** Whether no transaction keeps rows that were removed or replaced since its start. */
  isIdle(): Promise<boolean>
}

/** A kind of storage that is to keep the rules: how an empty one is made and removed. */
export interface StorageUnderTest {
  readonly name: string
  create(limits: StoredLimits): Promise<{
    readonly settings: StorageSettings
    /** Opens it where the settings alone do not say how. */
    readonly open?: typeof openStorage
    isIdle(): Promise<boolean>
    remove(): Promise<void>
  }>
}

/** Breaks one promise of one store, to prove that the rules about it notice. */
export interface Flaw {
  readonly store: StoreName
  readonly topic: Topic
  readonly settings?: (settings: StorageSettings) => StorageSettings
  readonly wrap?: (storage: Storage) => Storage
}

const unlimited: StoredLimits = { memories: 1e9, bytes: 1e15 }

/** Opens a storage, with its flaw if it is given one. */
export async function openFlawed(settings: StorageSettings, flaw?: Flaw, open = openStorage): Promise<Storage> {
  const storage = await open(flaw?.settings?.(settings) ?? settings)
  return flaw?.wrap?.(storage) ?? storage
}

/** Tests one rule on an empty storage; throws where it is broken. */
export async function check(rule: Rule, storage: StorageUnderTest, flaw?: Flaw): Promise<void> {
  const { settings, open, isIdle, remove } = await storage.create(rule.limits ?? unlimited)
  const opened: Storage[] = []
  try {
    await rule.holds({
      settings,
      flaw: flaw && partOf(flaw),
      isIdle,
      async open() {
        const one = await openFlawed(settings, flaw, open)
        opened.push(one)
        return one
      },
    })
  } finally {
    for (const one of opened) await one.close()
    await remove()
  }
}

/** The part of the suite that a rule or flaw belongs to. */
export function partOf({ store, topic }: Pick<Rule, 'store' | 'topic'>): string {
  return `${store} ${topic}`
}

/** A change by another connection on a shared database is seen so soon at the latest: milliseconds, generous beside its second. */
const longestLag = 30_000

/** Waits until a connection sees the write of another one; throws where it never does. */
export async function seen(check: () => boolean, what: string): Promise<void> {
  for (const begin = performance.now(); !check(); await delay(10))
    if (performance.now() - begin > longestLag) throw new Error(`never seen: ${what}`)
}
