import { createHash } from 'node:crypto'

/**
 * The label under which the memories of a client's conversation stand together: `client:` and the client's own name for it,
 * or where that is long or holds other characters than ids do, a digest of owner and name. Never the id of a saved
 * conversation: a client that guesses one adds nothing to it.
 */
export function conversationLabel(owner: string, name: string): string {
  return `client:${plainName.test(name) ? name : digestOf(owner, name)}`
}

/** Ids as clients make them, such as a UUID or `resp_…`. */
const plainName = /^[\w.:-]{1,100}$/

function digestOf(owner: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, name]))
    .digest('hex')
    .slice(0, 32)
}
