import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isReplacing, listFolder } from '../storage/storage.ts'
import { type Places, settingsFilesOf } from './work.ts'

const dayMs = 86_400_000

/** The ending of what a restore at that time keeps aside: milliseconds since 1970 UTC. */
export function stampOf(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')
}

/** The folder with the data from before a restore. */
export function beforeRestore({ data }: Places, stamp: string): string {
  return join(data, `before-restore-${stamp}`)
}

/** The paths with what was there before restores, the settings files among them; none while a restore is to be finished. */
export function keptFromBefore(places: Places): readonly { readonly path: string; readonly at: number }[] {
  if (isReplacing(places.data)) return []
  const folders = new Set([places.data, ...settingsFilesOf(places).map(([, path]) => dirname(path))])
  return [...folders].flatMap((folder) =>
    listFolder(folder).flatMap((name) => {
      const [, year, month, day, hour, minute, second] = (kept.exec(name) ?? []).map(Number)
      return year === undefined
        ? []
        : [{ path: join(folder, name), at: Date.UTC(year, month! - 1, day, hour, minute, second) }]
    }),
  )
}

const kept = /^(?:(?:config|mcp)\.json\.)?before-restore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/** Removes what was there before restores of more than so many days ago; gives the removed paths. */
export function removeFromBefore(places: Places, days: number, now: number): readonly string[] {
  const old = keptFromBefore(places).filter(({ at }) => now - at >= days * dayMs)
  for (const { path } of old) rmSync(path, { recursive: true, force: true })
  return old.map(({ path }) => path)
}
