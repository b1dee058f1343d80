import { createHash, createHmac } from 'node:crypto'

/**
 * Seals: for every memory, persona and state a code (HMAC-SHA-256) that only this installation's key can make.
 * The key is in no database, so an edit by another program leaves a row with a seal that is wrong, missing, or left over. A
 * scope's seal counts its memories and holds the sum of their seals (modulo 2^256), which tells when rows and their seals were
 * removed or put back together. A program that has the key can seal anything.
 *
 * Triggers write the seals: every statement of this program, from any store, then renews them, and a statement of
 * another program does not. A row that another program changed is never sealed again by a later change of our own: before a
 * trigger renews a seal, it compares it.
 */
export interface SealMaker {
  /** The code of values of this kind. */
  made(kind: string, ...values: readonly unknown[]): Buffer
  /** The code of bytes that stand for such values already. */
  code(message: Uint8Array): Buffer
  vector(memoryId: number, spaceId: number, vector: Uint8Array): Buffer
  /** Of a persona's place: the seals of its row and its state, and the scope of its memories. */
  persona(personaId: string, scopeId: number | null, persona: Uint8Array, state: Uint8Array | null): Buffer
  key(since: number): Buffer
  readonly keyId: string
}

/** Makes seals under a secret; `plain` writes a value as JSON can hold it. */
export function createSealMaker(secret: string, plain: (value: unknown) => unknown): SealMaker {
  const code = (message: string | Uint8Array) => createHmac('sha256', secret).update(message).digest()
  const made = (kind: string, ...values: readonly unknown[]) => code(JSON.stringify([kind, ...values.map(plain)]))
  return {
    made,
    code,
    vector: (memoryId, spaceId, vector) =>
      createHmac('sha256', secret).update(`vector ${memoryId} ${spaceId} `).update(vector).digest(),
    persona: (...values) => made('persona', ...values),
    key: (since) => made('key', since),
    keyId: createHash('sha256').update(`aichat seals ${secret}`).digest('hex').slice(0, 16),
  }
}

/** The columns of `memory` that its seal covers; its terms, context and digest follow from them. */
export const memoryColumns =
  'memory_id, scope_id, id, content, timestamp, importance, stored_at, worth, category, pinned, conversation, metadata'
export const personaColumns =
  'id, user_id, name, model, description, system_prompt, parameters, embedding_model, memory_settings, mutation_settings, extra, created_at, updated_at'
/** The hash is that of the log's last record, which holds for all records before it. */
export const stateColumns = 'persona_id, algorithm, sequence, hash, learned'

/** Columns of one table, for a list of several tables. */
export function columnsOf(alias: string, columns: string): string {
  return columns.replaceAll(/\w+/g, (column) => `${alias}.${column}`)
}

/** Bytes of a sum of seals. */
export const sumLength = 32

/** The sum of no seals. */
export const emptySum: Uint8Array = new Uint8Array(sumLength)

/** Adds one seal to a sum, or with `sign` -1 takes it away, modulo 2^256. */
export function added(sum: Uint8Array, seal: Uint8Array, sign: 1 | -1 = 1): Uint8Array {
  const result = new Uint8Array(sumLength)
  let carry = 0
  for (let at = sumLength - 1; at >= 0; at--) {
    const value = sum[at]! + sign * (seal[at] ?? 0) + carry
    result[at] = value & 0xff
    carry = value >> 8
  }
  return result
}
