import { requireListed } from '../accounts/accounts.ts'
import type { Call, Operation } from './operation.ts'
import { ownPersona } from './personas.ts'

/**
 * Holds a call with an API key to the key's list of personas, for every operation on one: in one place, so that no new one
 * can forget it. A key with a list makes no personas. Throws `key_scope`, or as `ownPersona`.
 */
export async function requireListedPersona(
  call: Call,
  { method, path }: Pick<Operation, 'method' | 'path'>,
  { id = '' }: Readonly<Record<string, string>>,
): Promise<void> {
  const { key } = call.caller
  if (!key?.personas || !path.startsWith('/api/personas')) return
  if (path.startsWith('/api/personas/:id')) requireListed(key, (await ownPersona(call, id)).id)
  else if (method !== 'GET') requireListed(key, undefined)
}
