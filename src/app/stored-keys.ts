import { AppError } from '../errors.ts'
import { chooseStorage, createKeychain, keychainIndex, openKeychainSecrets } from '../keychain/keychain.ts'
import { allNamesOf } from '../plugins/plugins.ts'
import type { App } from './compose.ts'

/** The provider keys that this machine keeps, in the keychain and in a file. */
export interface StoredKeys {
  /** Names of stored keys and of those that plugins use, sorted, with the place that is read first. */
  list(): readonly { readonly name: string; readonly from: string }[]
  /** The keychain, else, if allowed, the file. Throws `unavailable` where neither can be used. */
  chooseStorage(fileAllowed: boolean): Promise<'keychain' | 'file'>
  set(name: string, value: string, storage: 'keychain' | 'file'): Promise<void>
  /**
   * Stores a key in the keychain, or where none works in the file. Throws `unavailable` where a keychain that does not open holds
   * an earlier one, which would go before it.
   */
  keep(name: string, value: string): Promise<'keychain' | 'file'>
  /** True when the key was stored. */
  remove(name: string): Promise<boolean>
}

/** The keys in the keychain of the system and in the file of secrets, beside those that the environment sets. */
export function openStoredKeys({ settings, secrets: file, plugins, keys }: App): StoredKeys {
  const native = createKeychain()
  const keychain = openKeychainSecrets(keychainIndex(settings.paths), native)
  return {
    list() {
      const used = plugins.list().flatMap((plugin) => allNamesOf(plugin))
      return [...new Set([...used, ...keychain.names(), ...file.names()])].sort().flatMap((name) => {
        const from = keys.originOf(name)
        return from ? [{ name, from }] : []
      })
    },
    chooseStorage: (fileAllowed) => chooseStorage(native, fileAllowed),
    async keep(name, value) {
      const stored = native.probe().then(() => keychain.set(name, value))
      const failure = await stored.catch((reason: unknown) => reason)
      if (failure === undefined) return 'keychain'
      if (keychain.has(name))
        throw new AppError('unavailable', `The keychain does not open, and holds an earlier ${name}`, {
          details: ['Unlock it, and try again'],
          cause: failure,
        })
      file.set(name, value)
      return 'file'
    },
    set: async (name, value, storage) => (storage === 'keychain' ? keychain : file).set(name, value),
    async remove(name) {
      return [await keychain.remove(name), file.remove(name)].includes(true)
    },
  }
}
