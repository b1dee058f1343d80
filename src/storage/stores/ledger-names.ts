import {
  among,
  type InsertInto,
  insert,
  rows,
  type Statement,
  type StoreDatabase,
  sql,
  tableOf,
  word,
} from '../port/port.ts'

/** Numbers instead of the names of users, keys, plugins, models, tiers and prices: a row is a third as long. */
export type LedgerNames = ReturnType<typeof createLedgerNames>

/** The most names that are remembered. */
const most = 20_000

interface NameRow {
  readonly id: number
  readonly name: string
}

const newNames: InsertInto = { table: 'ledger_name', columns: { name: 'text' }, onConflict: 'DO NOTHING' }

/** What the index of names holds: PostgreSQL's takes no text of over 2,704 bytes. */
const key = { column: word('name', 'key'), of: word('', 'ledger_name_key') } as const

/** The number of a name in the ledger, as an expression. */
export function idOfName(name: string): Statement {
  return sql`(SELECT id FROM ledger_name WHERE ${key.column} = ${key.of}(${storable(name)}))`
}

/** Remembers names and their numbers, 20,000 at most. */
export function createLedgerNames(db: StoreDatabase) {
  const ids = new Map<string, number>()
  const names = new Map<number, string>()
  const remember = (found: readonly NameRow[]) => {
    if (ids.size + found.length > most) {
      ids.clear()
      names.clear()
    }
    for (const { id, name } of found) {
      ids.set(name, id)
      names.set(id, name)
    }
  }
  /** Collects the requested numbers apart from the shared maps, which other calls may clear meanwhile. */
  const look = async (wanted: readonly string[]): Promise<Map<string, number>> => {
    const found = new Map<string, number>()
    const unknown = wanted.filter((name) => {
      const id = ids.get(name)
      if (id !== undefined) found.set(name, id)
      return id === undefined
    })
    if (unknown.length === 0) return found
    const list = tableOf(
      { name: 'text' },
      unknown.map((name) => [name]),
    )
    const read = await db.read(
      rows<NameRow>(
        sql`SELECT id, name FROM ledger_name WHERE ${key.column} IN (SELECT ${key.of}(t.name) FROM ${list} AS t)`,
      ),
    )
    remember(read)
    for (const { id, name } of read) found.set(name, id)
    return found
  }

  return {
    /** Numbers for names, which are kept from now on: committed before the rows that hold them. */
    async idsOf(given: Iterable<string>): Promise<(name: string) => number> {
      // A text that the database cannot hold is found under the one that it holds in its place.
      const held = new Map([...new Set(given)].map((name) => [name, storable(name)]))
      const wanted = [...new Set(held.values())]
      let found = await look(wanted)
      const missing = wanted.filter((name) => !found.has(name)).sort()
      if (missing.length > 0) {
        await db.append(() =>
          insert(
            newNames,
            missing.map((name) => [name]),
          ),
        )
        found = await look(wanted)
      }
      const ids = new Map([...held].map(([name, text]) => [name, found.get(text)!]))
      return (name) => ids.get(name)!
    },
    /** The numbers of names that rows have; others are undefined. */
    async find(given: readonly string[]): Promise<(name: string) => number | undefined> {
      const found = await look(given.map(storable))
      return (name) => found.get(storable(name))
    },
    async namesOf(given: Iterable<number>): Promise<(id: number) => string> {
      const found = new Map<number, string>()
      const unknown = [...new Set(given)].filter((id) => {
        const name = names.get(id)
        if (name !== undefined) found.set(id, name)
        return name === undefined
      })
      if (unknown.length > 0) {
        const read = await db.read(rows<NameRow>(sql`SELECT id, name FROM ledger_name WHERE id ${among(unknown)}`))
        remember(read)
        for (const { id, name } of read) found.set(id, name)
      }
      return (id) => found.get(id) ?? ''
    },
  }
}

/** The text as PostgreSQL gives it back, which holds neither U+0000 nor half a character. */
function storable(name: string): string {
  return name.replaceAll(/\p{Surrogate}|\0/gu, '\ufffd')
}
