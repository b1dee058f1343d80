import { rmSync } from 'node:fs'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { type LimitArea, openLimits } from '../../../src/usage/limits/area.ts'
import type { Admission, Size, Subjects } from '../../../src/usage/limits/limits.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'

/** Noon of a Monday. */
export const noon = Date.UTC(2026, 5, 1, 12)

/** Limits over a storage of their own, with clocks that stand still until they are set. */
export interface LimitsUnderTest {
  readonly limits: LimitArea
  readonly storage: Storage
  /** Milliseconds since 1970, by both clocks. */
  clock: { window: number; wall: number }
  /** Lines of warnings. */
  readonly warned: readonly string[]
  /** Admits a request of ada's with the key k. */
  admit(size?: Size, subjects?: Subjects): Admission | undefined
  /** The same as another process. */
  open(): Promise<LimitArea>
  close(): Promise<void>
}

export const gpt = { plugin: 'openai', model: 'gpt' }

export async function openLimitsUnderTest(
  flush: () => Promise<void> = async () => {},
  hasOthers = false,
): Promise<LimitsUnderTest> {
  const folder = temporaryFolder()
  const storages: Storage[] = []
  const areas: LimitArea[] = []
  const clock = { window: noon, wall: noon }
  const warned: string[] = []
  let ids = 0
  const open = async (): Promise<LimitArea> => {
    const storage = await openStorageIn(folder)
    storages.push(storage)
    const area = await openLimits({
      store: storage.limits,
      mark: () => storage.changes.mark('limits'),
      now: () => clock.window,
      wall: () => clock.wall,
      zone: 'UTC',
      newId: () => `r${++ids}`,
      reportsCost: ({ plugin }) => plugin === 'openrouter',
      flush,
      hasOthers,
      warn: (line) => void warned.push(line),
    })
    areas.push(area)
    return area
  }
  const limits = await open()
  return {
    limits,
    storage: storages[0]!,
    clock,
    warned,
    admit: (size = { input: 10, output: 20 }, subjects = { user: 'ada', key: 'k' }) =>
      limits.admit(subjects, () => size),
    open,
    async close() {
      for (const area of areas) await area.close()
      for (const storage of storages) await storage.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
