import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../errors.ts'
import type { KeychainAction, KeychainResult } from './keychain-child.ts'

/** The desktop's store of secrets: Secret Service, macOS Keychain, Windows Credential Vault. */
export interface Keychain {
  /** Stores, reads back and removes a random value. Throws `unavailable` when that does not work. */
  probe(): Promise<void>
  get(account: string): Promise<string | undefined>
  set(account: string, secret: string): Promise<void>
  /** True when there was one. */
  remove(account: string): Promise<boolean>
}

/** Under this name our secrets stand in the keychain. */
const service = 'aichat-toolkit'

/** How long a keychain may take: milliseconds. A locked one asks its user, who may not be there. */
const patienceMs = 3000

/**
 * The keychain, spoken to in a process of its own: on a machine without a desktop the native library can wait for ever
 * inside a call that nothing can cancel, and only a process can be ended. Every method throws `unavailable` when there
 * is no keychain, or no answer in time.
 */
export function createKeychain(timeoutMs = patienceMs): Keychain {
  const ask = (requests: readonly KeychainAction[]) => inChild(requests, timeoutMs)
  return {
    async probe() {
      const canary = `canary-${process.pid}-${Date.now()}`
      const [, read] = await ask([
        { action: 'set', service, account: canary, secret: canary },
        { action: 'get', service, account: canary },
        { action: 'remove', service, account: canary },
      ])
      if (read !== canary) throw noKeychain('it does not keep what it is given')
    },
    async get(account) {
      const [secret] = await ask([{ action: 'get', service, account }])
      return typeof secret === 'string' ? secret : undefined
    },
    async set(account, secret) {
      await ask([{ action: 'set', service, account, secret }])
    },
    async remove(account) {
      const [removed] = await ask([{ action: 'remove', service, account }])
      return removed === true
    },
  }
}

/** Does the requests in order in a child; secrets travel over the channel between the two, never as an argument. */
async function inChild(requests: readonly KeychainAction[], timeoutMs: number): Promise<KeychainResult['results']> {
  const script = fileURLToPath(new URL(`./keychain-child${extname(import.meta.url)}`, import.meta.url))
  const { fork } = await import('node:child_process')
  const child = fork(script, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], serialization: 'advanced' })
  // A child that cannot be started or ends early is seen below, as one that does not answer.
  child.on('error', () => {})
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeoutMs)
  try {
    const answer = once(child, 'message', { signal: stop.signal })
    const gone = once(child, 'exit', { signal: stop.signal }).then(() => undefined)
    child.send(requests)
    const said = await Promise.race([answer, gone])
    if (!said) throw noKeychain('its library does not run here')
    const done = said[0] as KeychainResult
    if (done.problem !== undefined) throw noKeychain(done.problem)
    return done.results
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    throw noKeychain(`no answer within ${timeoutMs / 1000} s`, reason)
  } finally {
    clearTimeout(timer)
    stop.abort()
    child.kill('SIGKILL')
  }
}

function noKeychain(why: string, cause?: unknown): AppError {
  return new AppError('unavailable', `There is no keychain that can be used: ${why.split('\n')[0]}`, {
    details: [
      'Say --insecure-storage to keep it in a file that only you can read,',
      'or hand it over in the environment: AICHAT_TOKEN, or the variable of the key',
    ],
    cause,
  })
}
