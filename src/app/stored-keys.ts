import { AppError } from '../errors.ts'
import { chooseStorage, createKeychain, keychainIndex, openKeychainSecrets } from '../keychain/keychain.ts'
import { allNamesOf } from '../plugins/plugins.ts'
import type { App } from './compose.ts'

/** The provider keys that this machine keeps, in the keychain and in a file. */
export type StoredKeys = ReturnType<typeof openStoredKeys>

/** The keys in the keychain of the system and in the file of secrets, beside those that the environment sets. */
export function openStoredKeys({ settings, secrets: file, plugins, keys }: App) {
  const native = createKeychain()
  const keychain = openKeychainSecrets(keychainIndex(settings.paths), native)
  return {
    /** Names of stored keys and of those that plugins use, sorted, with the place that is read first. */
    list(): readonly { readonly name: string; readonly from: string }[] {
      const used = plugins.list().flatMap((plugin) => allNamesOf(plugin))
      return [...new Set([...used, ...keychain.names(), ...file.names()])].sort().flatMap((name) => {
        const from = keys.originOf(name)
        return from ? [{ name, from }] : []
      })
    },
    /** The keychain, else, if allowed, the file. Throws `unavailable` where neither can be used. */
    chooseStorage: (fileAllowed: boolean) => chooseStorage(native, fileAllowed),
    /** Stores a key in the keychain, else in the file. Throws `unavailable` where a locked one holds an earlier key. */
    async keep(name: string, value: string): Promise<'keychain' | 'file'> {
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
    set: async (name: string, value: string, storage: 'keychain' | 'file') =>
      (storage === 'keychain' ? keychain : file).set(name, value),
    /** True when the key was stored. */
    async remove(name: string): Promise<boolean> {
      return [await keychain.remove(name), file.remove(name)].includes(true)
    },
  }
}
