import { type MaybePromise, requireScopes, whenThere } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import type { Caller, Operation, Role } from './operation.ts'

export type AccessRule = Pick<Operation, 'access' | 'blockedInSingleUserMode' | 'scope'>

export interface Mode {
  readonly singleUser: boolean
  /** The only caller that single-user mode admits. */
  isDefaultAdministrator(id: string): MaybePromise<boolean>
}

/**
 * Authorises a caller, over HTTP and in process. Throws `forbidden`, in this order: single-user mode, role, ownership;
 * and `key_scope` before the role for an API key without the scope. `id` is the user that the path names. Asynchronous in single-user mode alone.
 */
export function authorise(
  rule: AccessRule,
  caller: Caller | undefined,
  id: string | undefined,
  mode: Mode,
): MaybePromise<void> {
  return whenThere(checkSingleUserMode(rule, caller, mode), () => {
    if (rule.access === 'public' || !caller) return
    if (caller.key) requireScopes(caller.key, rule.scope)
    if (rule.access === 'admin') requireAdmin(caller)
    if (rule.access === 'self') validateUserOwnership(caller, id)
  })
}

/** In single-user mode, throws `forbidden` for blocked operations and for all callers but the default administrator. */
function checkSingleUserMode(rule: AccessRule, caller: Caller | undefined, mode: Mode): MaybePromise<void> {
  if (!mode.singleUser) return
  if (rule.blockedInSingleUserMode) throw new AppError('forbidden', 'Not available in single-user mode')
  if (rule.access === 'public' || !caller) return
  return whenThere(mode.isDefaultAdministrator(caller.id), (isDefault) => {
    if (!isDefault) throw new AppError('forbidden', 'In single-user mode only the default administrator has access')
  })
}

/** Throws `forbidden` unless the caller has one of the roles. */
function requireRole(...roles: readonly Role[]): (caller: Caller) => void {
  return ({ role }) => {
    if (!roles.includes(role))
      throw new AppError('forbidden', roles.includes('admin') ? 'Only an administrator may do this' : 'Not permitted')
  }
}

export const requireAdmin = requireRole('admin')

/** Throws `forbidden` unless the caller is an administrator or the user of that id, whether or not it exists. */
function validateUserOwnership(caller: Caller, id: string | undefined): void {
  if (caller.role !== 'admin' && caller.id !== id)
    throw new AppError('forbidden', 'Only an administrator and the user concerned may do this')
}
