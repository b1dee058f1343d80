import { readdirSync, readlinkSync, realpathSync } from 'node:fs'

/** Whether another process of this user has the file open, as far as Linux's /proc tells; false on other systems. */
export function isOpenElsewhere(path: string): boolean {
  const real = realpathSync(path)
  return idsIn('/proc').some(
    (pid) =>
      pid !== String(process.pid) &&
      idsIn(`/proc/${pid}/fd`).some((file) => targetOf(`/proc/${pid}/fd/${file}`) === real),
  )
}

function idsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name))
  } catch {
    // Of another user, or gone meanwhile.
    return []
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}
