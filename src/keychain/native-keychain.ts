import { AppError } from '../errors.ts'
import type { KeychainAction, KeychainResult } from './keychain-child.ts'

/** The desktop's store of secrets: Secret Service, macOS Keychain, Windows Credential Vault. */
export type Keychain = ReturnType<typeof createKeychain>

/** The service name of aichat's entries in the keychain. */
const service = 'aichat-toolkit'

/** Milliseconds that a keychain may take. A locked one asks its user, on a screen that may be unattended. */
const defaultTimeoutMs = 3000

/** The keychain where it works, else a file where that is allowed. Throws `unavailable`, as `probe` does. */
export async function chooseStorage(
  keychain: Pick<Keychain, 'probe'>,
  fileAllowed: boolean,
): Promise<'keychain' | 'file'> {
  try {
    await keychain.probe()
    return 'keychain'
  } catch (reason) {
    if (fileAllowed) return 'file'
    throw reason
  }
}

/**
 * The keychain, called in a process of its own: without a desktop the native library can wait forever inside a call that
 * cannot be cancelled, and only a process can be ended. Every method throws `unavailable` when no keychain is found or it
 * does not answer in time.
 */
export function createKeychain(timeoutMs = defaultTimeoutMs) {
  const ask = (requests: readonly KeychainAction[]) => inChild(requests, timeoutMs)
  return {
    /** Stores, reads back and removes a random value. Throws `unavailable` when that does not work. */
    async probe() {
      const canary = `canary-${process.pid}-${Date.now()}`
      const [, read] = await ask([
        { action: 'set', service, account: canary, secret: canary },
        { action: 'get', service, account: canary },
        { action: 'remove', service, account: canary },
      ])
      if (read !== canary) throw noKeychain('a value stored in it was not read back')
    },
    async get(account: string): Promise<string | undefined> {
      const [secret] = await ask([{ action: 'get', service, account }])
      return typeof secret === 'string' ? secret : undefined
    },
    async set(account: string, secret: string) {
      await ask([{ action: 'set', service, account, secret }])
    },
    /** True when it was stored. */
    async remove(account: string): Promise<boolean> {
      const [removed] = await ask([{ action: 'remove', service, account }])
      return removed === true
    },
  }
}

/** Does the requests in order in a child; secrets cross its channel, never as an argument. */
async function inChild(requests: readonly KeychainAction[], timeoutMs: number): Promise<readonly KeychainResult[]> {
  const { runOnce } = await import('../process/run-in-child.ts')
  const child = {
    module: { beside: import.meta.url, name: './keychain-child' },
    environment: 'inherited' as const,
    lost: () => new Error('its library does not run here'),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    return (await runOnce(child, requests, signal)) as readonly KeychainResult[]
  } catch (reason) {
    throw noKeychain(signal.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(reason), reason)
  }
}

function reasonOf(reason: unknown): string {
  const message = (reason as Error).message
  // keytar's own message lists the paths that it tried.
  return /native addon/.test(message) ? 'its native library does not load here (on Linux it needs libsecret)' : message
}

function noKeychain(why: string, cause?: unknown): AppError {
  return new AppError('unavailable', `No usable keychain found: ${why.split('\n')[0]}`, {
    details: [
      'Add --insecure-storage to keep the secret in a file that only you can read,',
      'or set it in the environment: AICHAT_TOKEN for a login, else the variable of the key',
    ],
    cause,
  })
}
