import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import pg from 'pg'

/** Rows as texts, of all statements of a script. */
export type Rows = readonly (readonly string[])[]

/** A connection of the superuser, beside the product's code. */
export interface Queries {
  /** Throws the code and the message of the server. */
  query(sql: string): Promise<Rows>
  end(): Promise<void>
}

/** Connects to a database of a server on loopback. */
export async function openQueries(port: number, database = 'postgres'): Promise<Queries> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database,
    // Every value stays the text that the server sends.
    types: { getTypeParser: () => (value: unknown) => value } as unknown as pg.CustomTypesConfig,
  })
  // A server that is stopped ends it; the next query says so.
  client.on('error', () => {})
  await client.connect()
  return {
    async query(text) {
      try {
        const results = [await client.query({ text, rowMode: 'array' })].flat() as unknown as pg.QueryArrayResult[]
        return results.flatMap(({ rows }) =>
          rows.map((row) => row.map((value) => (value === null ? '' : String(value)))),
        )
      } catch (reason) {
        const { code = '', message } = reason as { code?: string; message: string }
        throw new Error(`${code}: ${message}`, { cause: reason })
      }
    },
    end: () => client.end(),
  }
}

/**
 * The password as the server keeps it (https://www.postgresql.org/docs/15/catalog-pg-authid.html), with one round in place of
 * 4096, which a login of each connection would cost.
 */
export function cheapScram(password: string): string {
  const salt = Buffer.from('salt of the tests')
  const salted = pbkdf2Sync(password, salt, 1, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$1:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}
