import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReader } from '../../../src/storage/sqlite/reader.ts'

/** Tables that a transfer makes anew, or leaves behind. */
const left =
  /^(?:sqlite_|login_(?:failure|refusal)|embedding_lease|migration$|price_changes|(?:memory|conversation)_text)/

/** Everything that a data folder holds, table by table and file by file, as texts that can be compared. Asks no code of transfers. */
export function dumpOf(folder: string): Readonly<Record<string, readonly string[]>> {
  const db = openReader(join(folder, 'aichat.db'))
  try {
    const names = db
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
      .pluck()
      .all()
    const tables = names
      .filter((name) => !left.test(name))
      .map((name) => {
        const rowid = /WITHOUT ROWID/.test(schemaOf(name)) ? '' : 'rowid AS rowid_, '
        return [name, db.prepare(`SELECT ${rowid}* FROM "${name}"`).all().map(textOf).filter(stays).sort()] as const
      })
    const files = ['plugins', 'backups'].map((name) => [name, filesIn(join(folder, name))] as const)
    return Object.fromEntries([...tables, ...files])
  } finally {
    db.close()
  }

  function schemaOf(name: string): string {
    return db.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name)!
  }
}

/** Rows on their way out, see rich-folder.ts. */
function stays(row: string): boolean {
  return !/leaving|"(?:memory_id|scope_id)":(?:900|15099494400)\b/.test(row)
}

function textOf(row: unknown): string {
  return JSON.stringify(row, (name, value) => {
    if (name === 'rowid_' || name === 'text_id') return undefined
    // Buffers are objects by now.
    if (value?.type === 'Buffer') return createHash('sha256').update(Buffer.from(value.data)).digest('hex')
    return value
  })
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}`,
    )
}
