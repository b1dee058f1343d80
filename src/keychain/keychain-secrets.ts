import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SecretSource } from '../plugins/plugins.ts'
import type { Paths } from '../settings/settings.ts'
import { replaceFile, whileLocked } from '../storage/storage.ts'
import type { Keychain } from './native-keychain.ts'

/** Secrets in the keychain. Their names are in a file, so that listing them does not open the keychain. */
export interface KeychainSecrets extends SecretSource {
  names(): readonly string[]
  /** Throws `unavailable` when the keychain does not answer. */
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  /** True when it was stored. */
  remove(name: string): Promise<boolean>
}

/** The file of the names. */
export function keychainIndex(paths: Paths): string {
  return join(paths.config, 'keychain.json')
}

/** Opens the secrets; `path` is the file of their names. */
export function openKeychainSecrets(path: string, keychain: Keychain): KeychainSecrets {
  return {
    has: (name) => names().includes(name),
    names,
    get: (name) => keychain.get(name),
    origin: () => 'keychain',
    async set(name, value) {
      await keychain.set(name, value)
      change((known) => [...new Set([...known, name])])
    },
    async remove(name) {
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
