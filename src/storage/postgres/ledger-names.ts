import type { Database } from './sql.ts'

/** Numbers in place of the names of users, keys, plugins, models, tiers and prices, which all processes share. */
export interface LedgerNames {
  /** Numbers for names, which are kept from now on: committed before the rows that hold them. */
  idsOf(names: Iterable<string>): Promise<(name: string) => number>
  /** The numbers of names that rows have; others are undefined. */
  find(names: readonly string[]): Promise<(name: string) => number | undefined>
  /** The names of numbers. */
  namesOf(ids: Iterable<number>): Promise<(id: number) => string>
}

/** The most names that are remembered. */
const most = 20_000

interface NameRow {
  readonly id: number
  readonly name: string
}

/** Remembers names and their numbers, 20,000 at most. */
export function createLedgerNames(db: Database): LedgerNames {
  const ids = new Map<string, number>()
  const names = new Map<number, string>()
  const remember = (rows: readonly NameRow[]) => {
    if (ids.size + rows.length > most) {
      ids.clear()
      names.clear()
    }
    for (const { id, name } of rows) {
      ids.set(name, id)
      names.set(id, name)
    }
  }
  /** Collects the requested ids apart from the shared maps, which other calls may clear meanwhile. */
  const look = async (asked: readonly string[]): Promise<Map<string, number>> => {
    const found = new Map<string, number>()
    const unknown = asked.filter((name) => {
      const id = ids.get(name)
      if (id !== undefined) found.set(name, id)
      return id === undefined
    })
    if (unknown.length === 0) return found
    const rows = await db.rows<NameRow>(
      'SELECT id, name FROM ledger_name WHERE key = ANY(ARRAY(SELECT ledger_name_key(unnest($1::text[]))))',
      [unknown],
    )
    remember(rows)
    for (const { id, name } of rows) found.set(name, id)
    return found
  }

  return {
    async idsOf(asked) {
      // A text that the database cannot hold is found under the one that it holds in its place.
      const wanted = [...new Set(asked)]
      const all = [...new Set(wanted.map(storable))]
      let found = await look(all)
      const missing = all.filter((name) => !found.has(name)).sort()
      if (missing.length > 0) {
        await db.run('INSERT INTO ledger_name (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [missing])
        found = await look(all)
      }
      return (name) => found.get(name) ?? found.get(storable(name))!
    },
    async find(asked) {
      const found = await look(asked.map(storable))
      return (name) => found.get(storable(name))
    },
    async namesOf(asked) {
      const found = new Map<number, string>()
      const unknown = [...new Set(asked)].filter((id) => {
        const name = names.get(id)
        if (name !== undefined) found.set(id, name)
        return name === undefined
      })
      if (unknown.length > 0) {
        const rows = await db.rows<NameRow>('SELECT id, name FROM ledger_name WHERE id = ANY($1)', [unknown])
        remember(rows)
        for (const { id, name } of rows) found.set(id, name)
      }
      return (id) => found.get(id) ?? ''
    },
  }
}

/** The text as it comes back from the database, which holds neither U+0000 nor half a character. */
function storable(name: string): string {
  return name.replaceAll(/\p{Surrogate}|\0/gu, '\ufffd')
}
