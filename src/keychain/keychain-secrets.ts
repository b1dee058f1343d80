import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Paths } from '../settings/settings.ts'
import { replaceFile, whileLocked } from '../storage/storage.ts'
import type { Keychain } from './native-keychain.ts'

/** The file of the names. */
export function keychainIndex(paths: Paths): string {
  return join(paths.config, 'keychain.json')
}

/** Opens the secrets in the keychain. Their names are in the file at `path`, so that listing them does not open the keychain. */
export function openKeychainSecrets(path: string, keychain: Keychain) {
  return {
    has: (name: string) => names().includes(name),
    names,
    /** Throws `unavailable` when the keychain does not answer. */
    get: (name: string) => keychain.get(name),
    origin: (_name: string) => 'keychain' as const,
    async set(name: string, value: string) {
      await keychain.set(name, value)
      change((known) => [...new Set([...known, name])])
    },
    /** True when it was stored. */
    async remove(name: string) {
      if (!names().includes(name)) return false
      await keychain.remove(name)
      change((known) => known.filter((other) => other !== name))
      return true
    },
  }

  function names(): readonly string[] {
    try {
      const { names } = JSON.parse(readFileSync(path, 'utf8')) as { names: readonly string[] }
      return names
    } catch {
      // A missing or unreadable index names no secret; the secrets themselves are untouched.
      return []
    }
  }

  function change(alter: (known: readonly string[]) => readonly string[]): void {
    whileLocked(path, () => replaceFile(path, `${JSON.stringify({ names: [...alter(names())].sort() }, null, 2)}\n`))
  }
}
