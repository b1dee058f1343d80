// A lock between processes that set up one folder. Node built-ins only: runs before the installation.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Locks by a folder at `path`; a second process waits up to ten minutes. The lock of a process that ended is taken over.
 * Returns the function that unlocks, or undefined after ten minutes.
 */
export function lock(path) {
  for (let waited = 0; waited < 600; waited++) {
    try {
      mkdirSync(path)
      writeFileSync(join(path, 'pid'), String(process.pid))
      return () => rmSync(path, { recursive: true, force: true })
    } catch (reason) {
      if (reason.code !== 'EEXIST') throw reason
      if (!ownerLives(join(path, 'pid'))) rmSync(path, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    }
  }
  process.stderr.write(`aichat: another set-up has held ${path} for ten minutes; remove it if none is running.\n`)
  return undefined
}

function ownerLives(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch (reason) {
    // The pid file may not be written yet: such a lock is stale after 2 s.
    return (
      reason.code === 'EPERM' ||
      (reason.code === 'ENOENT' &&
        Date.now() - (statSync(dirname(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000)
    )
  }
}
