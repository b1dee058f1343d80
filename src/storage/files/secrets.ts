import { readFileSync, type Stats, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { parseHandWritten } from '../../formats/formats.ts'
import type { SecretSource } from '../../plugins/plugins.ts'
import { replaceFile } from './atomic.ts'
import { whileLocked } from './file-lock.ts'

/** Secrets in a file that only its owner can read: the place of last resort, used where the user asked for it. */
export interface SecretFile extends SecretSource {
  get(name: string): string | undefined
  names(): readonly string[]
  /** Throws `configuration` for a file that cannot be used. */
  check(): void
  set(name: string, value: string): void
  /** True when there was one. */
  remove(name: string): boolean
}

/**
 * Opens the file at the first use and again when it changes. A file that others can read is refused with a
 * `configuration` AppError instead of being used or quietly mended. With `keepsLast` the secrets that were read before stay
 * in force where the file cannot be used any more: for a service, which asks `check`.
 */
export function openSecretFile(path: string, { keepsLast = false } = {}): SecretFile {
  let known:
    | { readonly version: string; readonly secrets: ReadonlyMap<string, string>; readonly problem?: unknown }
    | undefined
  return {
    has: (name) => secrets().has(name),
    get: (name) => secrets().get(name),
    origin: () => 'file',
    names: () => [...secrets().keys()].sort(),
    check() {
      secrets()
      if (known?.problem) throw known.problem
    },
    set(name, value) {
      whileLocked(path, () => write(new Map([...secrets(), [name, value]])))
    },
    remove(name) {
      if (!secrets().has(name)) return false
      return whileLocked(path, () => {
        const rest = new Map(secrets())
        const there = rest.delete(name)
        if (there) write(rest)
        return there
      })
    },
  }

  function secrets(): ReadonlyMap<string, string> {
    const stat = statSync(path, { throwIfNoEntry: false })
    const version = stat ? `${stat.ino}:${stat.mtimeMs}:${stat.size}` : ''
    if (known?.version === version) return known.secrets
    try {
      known = { version, secrets: usable(stat) }
    } catch (problem) {
      if (!keepsLast || !known) throw problem
      known = { version, secrets: known.secrets, problem }
    }
    return known.secrets
  }

  function usable(stat: Stats | undefined): ReadonlyMap<string, string> {
    if (stat && process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
      throw new AppError('configuration', `Others can read the secrets in ${path}`, {
        details: [`Run: chmod 600 ${path}`],
      })
    }
    return stat ? read() : new Map()
  }

  function read(): ReadonlyMap<string, string> {
    try {
      const content = parseHandWritten(readFileSync(path, 'utf8'))
      const entries = Object.entries(content as Record<string, unknown>)
      return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
    } catch (cause) {
      throw new AppError('configuration', `The secrets in ${path} cannot be read: correct or remove the file`, {
        cause,
        ...(cause instanceof AppError && { details: cause.details }),
      })
    }
  }

  function write(secrets: ReadonlyMap<string, string>): void {
    replaceFile(path, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`, 0o600)
    known = undefined
  }
}
