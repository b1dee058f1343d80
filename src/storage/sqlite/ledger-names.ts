import type { Database } from './connection.ts'

/** Numbers in place of the names of users, keys, plugins, models, tiers and prices: a row is a third as long. */
export interface LedgerNames {
  /** The number of a name, which is kept from now on; within the caller's transaction. */
  idOf(name: string): number
  /** The number of a name, or undefined where no row has it. */
  find(name: string): number | undefined
  nameOf(id: number): string
  /** Forgets numbers that a transaction has given and not kept. */
  forget(): void
}

/** The most names that are remembered. */
const most = 20_000

export function createLedgerNames(db: Database): LedgerNames {
  const ids = new Map<string, number>()
  const names = new Map<number, string>()
  const find = db.prepare<[string], number>('SELECT id FROM ledger_name WHERE name = ?').pluck()
  const add = db.prepare<[string]>('INSERT INTO ledger_name (name) VALUES (?)')
  const read = db.prepare<[number], string>('SELECT name FROM ledger_name WHERE id = ?').pluck()
  return {
    idOf(name) {
      const known = ids.get(name)
      if (known !== undefined) return known
      const id = find.get(name) ?? Number(add.run(name).lastInsertRowid)
      if (ids.size >= most) ids.clear()
      ids.set(name, id)
      return id
    },
    find: (name) => ids.get(name) ?? find.get(name),
    nameOf(id) {
      const known = names.get(id)
      if (known !== undefined) return known
      const name = read.get(id) ?? ''
      if (names.size >= most) names.clear()
      names.set(id, name)
      return name
    },
    forget: () => ids.clear(),
  }
}
