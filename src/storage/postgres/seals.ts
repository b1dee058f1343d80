import { createHmac } from 'node:crypto'
import type { Scope, SealReport } from '../../personas/personas.ts'
import { raw, type Work } from '../port/port.ts'
import { createSealMaker, type SealMaker } from '../shared/seals.ts'
import { type Covered, checkSeals, type SealKeyRow, type SealReading } from '../stores/seals-check.ts'
import { memoryIndexOf } from './memory-index.ts'
import { hasKey, sealEverything, sealedMessage, sealPersonas } from './seal-triggers.ts'
import type { Database, Sql, Transaction } from './sql.ts'
import { vectorColumn } from './vectors-column.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * The key of the seals follows from the secret of the installation, JWT_SECRET. The database keeps it wrapped (XOR with a code
 * that only the secret can make), so that it outlives a change of the secret and all instances seal with the same one.
 * A server that logs the parameters of statements logs the key, and whoever may change functions of the database can learn it.
 */
interface SealKey {
  readonly maker: SealMaker
  readonly pads: string
  readonly row: Pick<SealKeyRow, 'key_id' | 'wrapped'>
}

function codeUnder(secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest()
}

/** A key of 64 characters, the length of HMAC's block, as the program and the triggers of the database use it. */
function sealKey(key: string, secret: string): SealKey {
  const pad = (byte: number) => Buffer.from(Buffer.from(key).map((each) => each ^ byte)).toString('hex')
  const maker = createSealMaker(key, plain)
  const wrapped = exclusiveOr(Buffer.from(key, 'hex'), wrapping(secret, maker.keyId))
  return { maker, pads: pad(0x36) + pad(0x5c), row: { key_id: maker.keyId, wrapped } }
}

/** Values as the database writes them as text. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return value === null ? null : String(value)
}

function wrapping(secret: string, keyId: string): Buffer {
  return codeUnder(secret, `wrapping of the seal key ${keyId}`)
}

function exclusiveOr(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ other[at]!))
}

/** The key of a row; undefined where none of the secrets wraps it. */
function unwrapped({ key_id, wrapped }: SealKeyRow, secrets: readonly string[]): SealKey | undefined {
  for (const secret of secrets) {
    const key = sealKey(exclusiveOr(wrapped!, wrapping(secret, key_id)).toString('hex'), secrets[0]!)
    if (key.maker.keyId === key_id) return key
  }
  return undefined
}

/**
 * Has every transaction of this database sealed with the installation's key. A database that was never sealed, or with a key that
 * no secret wraps, is sealed as it is: earlier changes cannot be seen, and `seal_key.since` says so.
 * @param secrets made of the installation's secret, and of the one before it
 */
export async function keepSeals(db: Database, secrets: readonly string[], now: () => number = Date.now): Promise<void> {
  const found = await keyIn(db, secrets)
  const key = found ?? sealKey(codeUnder(secrets[0]!, 'key of seals').toString('hex'), secrets[0]!)
  db.sealBy(key.pads)
  if (!found) db.sealBy((await sealAll(db, key, secrets, Math.round(now()))).pads)
}

async function keyIn(sql: Sql, secrets: readonly string[]): Promise<SealKey | undefined> {
  const row = await sql.row<SealKeyRow>('SELECT * FROM seal_key')
  const key = row && unwrapped(row, secrets)
  if (key && !key.row.wrapped!.equals(row.wrapped!))
    await sql.run('UPDATE seal_key SET wrapped = $1 WHERE key_id = $2', [key.row.wrapped, key.row.key_id])
  return key
}

/** Milliseconds that other writers are waited for, and wait. */
const sealingTimeout = 60_000

/** Resolves with the key that the database is sealed with: another process may have been faster. */
async function sealAll(db: Database, key: SealKey, secrets: readonly string[], since: number): Promise<SealKey> {
  return db.transaction(
    async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = ${sealingTimeout}; LOCK TABLE seal_key IN EXCLUSIVE MODE`)
      const known = await keyIn(tx, secrets)
      if (known) return known
      await tx.script(
        'LOCK TABLE persona, persona_state, memory_scope, memory, memory_vector IN SHARE ROW EXCLUSIVE MODE',
      )
      for (const table of ['seal_key', 'persona_seal', 'memory_scope_seal', 'memory_seal'])
        await tx.run(`DELETE FROM ${table}`)
      await tx.script(sealEverything(bytesIn(await vectorColumn(tx))))
      await tx.run('INSERT INTO seal_key (key_id, since, sealed, wrapped) VALUES ($1, $2, $3, $4)', [
        key.row.key_id,
        since,
        key.maker.key(since),
        key.row.wrapped,
      ])
      return key
    },
    { statementTimeout: 0 },
  )
}

function bytesIn(column: VectorColumn): string {
  return column === 'vector' ? 'vector_send(memory_vector.vector)' : 'memory_vector.bytes'
}

/** Seals a persona, its state and the place of its memories as they are: for one that was replaced as a whole. */
export async function sealAnew(tx: Transaction, personaId: string): Promise<void> {
  await tx.run(sealPersonas(`persona.id = $1 AND ${hasKey}`), [personaId])
}

/** Compares a persona with its seals, see `checkSeals`. */
export function checkSealsBy(secrets: readonly string[], column: VectorColumn, scope: Scope): Work<SealReport> {
  const covered = (message: string): Covered => ({
    columns: raw(`${message} AS message`),
    seal: (maker, row) => maker.code((row as { readonly message: Buffer }).message),
  })
  const reading: SealReading = {
    makerOf: (key) => unwrapped(key, secrets)?.maker,
    memory: covered(sealedMessage.memory),
    persona: covered(sealedMessage.persona),
    state: covered(sealedMessage.state),
    scopeColumns: raw('memories, sum::text AS sum, sealed'),
    sumIn: (maker, scopeId, { memories, sum, sealed }) =>
      maker.made('scope', scopeId, memories, sum).equals(sealed)
        ? Buffer.from(BigInt(sum!).toString(16).padStart(64, '0'), 'hex')
        : undefined,
    vectorBytes: memoryIndexOf(column).vectorBytes,
  }
  return checkSeals(reading, scope)
}
