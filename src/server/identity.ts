import type { MaybePromise } from '../accounts/users.ts'
import type { Caller, Operation } from '../operations/operation.ts'
import type { RequestContext } from './request-context.ts'

/** The authenticated caller of a request. */
export interface Identity {
  /** Undefined without a token, which only access `public` allows. */
  readonly caller?: Caller | undefined
  readonly session?: string | undefined
  readonly address?: string | undefined
  /** Calls back when the login ends; returns the function that stops watching. */
  readonly watch?: ((ended: () => void) => () => void) | undefined
}

/** The access rule of an operation, or of a route without one. */
export type Rule = Pick<Operation, 'access' | 'blockedInSingleUserMode' | 'loginLimit' | 'createsFirstUser'> & {
  /** The token may also come as x-api-key. */
  readonly apiKey?: true
}

/** Authenticates a request. Throws when the access rule refuses its caller. */
export type Identify = (context: RequestContext, rule: Rule) => MaybePromise<Identity>
