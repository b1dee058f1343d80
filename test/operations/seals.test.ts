import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'
import { testSeals } from './seals.ts'

const seals = suite('verifying a persona as it is stored in SQLite')

let installation: Installation | undefined

seals.after(() => installation?.close())

testSeals(seals, async () => {
  installation = openInstallation()
  const path = join(installation.home, 'aichat.db')
  /** As a person with `sqlite3`, foreign keys being off unless they say so. */
  const opened = <R>(work: (db: BetterSqlite3.Database) => R): R => {
    const db = new BetterSqlite3(path)
    db.pragma('foreign_keys = OFF')
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  return {
    installation,
    outside: {
      run: async (...statements) => void opened((db) => db.exec(statements.join(';'))),
      rows: async (query) => opened((db) => db.prepare<[], unknown[]>(query).raw().all()),
      columns: async (table) =>
        opened((db) => (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)),
      emptyVector: 'vector = zeroblob(length(vector))',
    },
  }
})

seals.run()
