import { ownSecret } from './own-secret.ts'

/** The secret that this installation signs logins with when it is given none, see `ownSecret`. */
export function ownTokenSecret(path: string): string {
  return ownSecret(path, 'which ends every login')
}
