import type { MaybePromise } from '../accounts/accounts.ts'
import type { AppError } from '../errors.ts'
import type { Caller, Operation } from '../operations/operations.ts'
import type { RequestContext } from './request-context.ts'

/** The authenticated caller of a request. */
export interface Identity {
  /** Undefined without a token, which only access `public` allows. */
  readonly caller?: Caller | undefined
  readonly session?: string | undefined
  readonly address?: string | undefined
  /** Calls back, with the reason, when the login or key ends; returns the function that stops watching. */
  readonly watch?: ((ended: (reason: AppError) => void) => () => void) | undefined
}

/** The access rule of an operation, or of a route without one. */
export type Rule = Pick<
  Operation,
  'access' | 'blockedInSingleUserMode' | 'scope' | 'loginLimit' | 'createsFirstUser'
> & {
  /** The token or key may also come as x-api-key. */
  readonly apiKeyHeader?: true
}

/** Authenticates a request. Throws when the access rule refuses its caller. */
export type Identify = (context: RequestContext, rule: Rule) => MaybePromise<Identity>
