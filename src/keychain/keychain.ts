/**
 * The secrets of the operating system: Secret Service, macOS Keychain, Windows Credential Vault, each call in a child with a
 * deadline.
 * Uses: `process` for the child, `storage` for the list of names; keytar.
 * Begin with: `native-keychain.ts`, `keychain-secrets.ts`.
 */
export { keychainIndex, openKeychainSecrets } from './keychain-secrets.ts'
export { chooseStorage, createKeychain, type Keychain } from './native-keychain.ts'
