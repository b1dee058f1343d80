import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { migrate } from '../../../src/storage/postgres/schema.ts'
import { openQueries, type Queries, type Rows } from './queries.ts'

/** The owner of the databases, and the password; the superuser `postgres` needs none. */
export const databaseUser = { name: 'aichat', password: 'database-password' } as const

/** A running server of which several test processes may make databases. */
export interface ServerPlace {
  readonly port: number
  /** As `15.18`. */
  readonly version: string
  /** Whether databases here can have the extension `vector`: Debian 12 has no package of it. */
  readonly hasVector: boolean
}

/** Databases of one test process on a server. */
export interface Databases extends ServerPlace {
  /** The address of a new empty database, owned by an ordinary user, or of a copy of an idle database. */
  newDatabase(template?: string): Promise<string>
  /** The address of a new database with the product's tables, which no installation has used. */
  newMigrated(): Promise<string>
  /** Rows as texts, asked by the superuser: no product code takes part. Throws the server's code and message. */
  query(sql: string, database?: string): Promise<Rows>
  /** Ends the sessions of a database with 57P01, as an administrator does; resolves with their number. */
  terminate(database: string): Promise<number>
  /** Ends the connection that queries keep. */
  leave(): Promise<void>
  /** Removes the databases of this process, with their sessions, and leaves. */
  drop(): Promise<void>
}

/** The database that `newMigrated` copies; the first process that needs it makes it. */
const migrated = 'migrated'

/** Databases that this process made: their names are its own on a server that others use too. */
let count = 0

export function databasesOf(place: ServerPlace): Databases {
  const { port } = place
  const made: string[] = []
  let kept: Promise<Queries> | undefined
  let template: Promise<void> | undefined

  /** On the connection that is kept, or on a new one where it was ended. */
  async function asked(sql: string): Promise<Rows> {
    kept ??= openQueries(port)
    const used = kept
    try {
      return await (await used).query(sql)
    } catch (reason) {
      if (kept === used) kept = undefined
      await used.then(({ end }) => end()).catch(() => {})
      throw reason
    }
  }

  const databases: Databases = {
    ...place,
    async newDatabase(template = 'template1') {
      const name = `test_${process.pid}_${++count}`
      made.push(name)
      await asked(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${databaseUser.name}`)
      return addressOf(port, name)
    },
    async newMigrated() {
      template ??= makeMigrated(port)
      await template
      return databases.newDatabase(migrated)
    },
    async query(sql, database = 'postgres') {
      if (database === 'postgres') return asked(sql)
      const queries = await openQueries(port, database)
      try {
        return await queries.query(sql)
      } finally {
        await queries.end()
      }
    },
    async terminate(database) {
      const [row] = await asked(
        `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = '${database}'`,
      )
      return Number(row![0])
    },
    async leave() {
      const left = kept
      kept = undefined
      await left?.then(({ end }) => end()).catch(() => {})
    },
    async drop() {
      for (const name of made.splice(0)) await asked(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await databases.leave()
    },
  }
  return databases
}

/** Makes it once on a server: another process that is about to waits. */
async function makeMigrated(port: number): Promise<void> {
  const queries = await openQueries(port)
  try {
    await queries.query(`SELECT pg_advisory_lock(hashtext('${migrated}'))`)
    if ((await queries.query(`SELECT 1 FROM pg_database WHERE datname = '${migrated}'`)).length > 0) return
    await queries.query(`CREATE DATABASE ${migrated}_later OWNER ${databaseUser.name}`)
    const db = openDatabase(addressOf(port, `${migrated}_later`))
    await migrate(db)
    await db.close()
    await queries.query(`ALTER DATABASE ${migrated}_later RENAME TO ${migrated}`)
  } finally {
    await queries.end()
  }
}

function addressOf(port: number, name: string): string {
  return `postgresql://${databaseUser.name}:${databaseUser.password}@127.0.0.1:${port}/${name}`
}
