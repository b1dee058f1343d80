import { AppError } from '../errors.ts'
import type { Caller, Operation, Role } from './operation.ts'

/** What of an operation says who may ask it. */
export type AccessRule = Pick<Operation, 'access' | 'blockedInSingleUserMode'>

/** How the installation is used. */
export interface Mode {
  readonly singleUser: boolean
  /** In single-user mode the only one who may do anything. */
  isDefaultAdministrator(id: string): boolean
}

/**
 * Whether a known caller may ask an operation. Throws `forbidden`, in this order: single-user mode, role, ownership.
 * `id` is the user whom the path names. Both faces ask here, so that they refuse alike.
 */
export function authorise(rule: AccessRule, caller: Caller | undefined, id: string | undefined, mode: Mode): void {
  checkSingleUserMode(rule, caller, mode)
  if (rule.access === 'public' || !caller) return
  if (rule.access === 'admin') requireAdmin(caller)
  if (rule.access === 'self') validateUserOwnership(caller, id)
}

/** Blocks what single-user mode does not have, and everybody but the default administrator. */
function checkSingleUserMode(rule: AccessRule, caller: Caller | undefined, mode: Mode): void {
  if (!mode.singleUser) return
  if (rule.blockedInSingleUserMode) throw new AppError('forbidden', 'This is switched off in single-user mode')
  if (rule.access !== 'public' && caller && !mode.isDefaultAdministrator(caller.id))
    throw new AppError('forbidden', 'In single-user mode only the default administrator may do anything')
}

/** Throws `forbidden` unless the caller has one of the roles. */
function requireRole(...roles: readonly Role[]): (caller: Caller) => void {
  return ({ role }) => {
    if (!roles.includes(role))
      throw new AppError('forbidden', roles.includes('admin') ? 'Only an administrator may do this' : 'Not permitted')
  }
}

export const requireAdmin = requireRole('admin')

/** Lets an administrator pass, and the user whose own data it is; for everybody else it is the same whether or not it exists. */
function validateUserOwnership(caller: Caller, id: string | undefined): void {
  if (caller.role !== 'admin' && caller.id !== id)
    throw new AppError('forbidden', 'Only an administrator and the user concerned may do this')
}
