import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { listFolder } from '../files/atomic.ts'
import type { SqliteRow, Value } from '../schema/table.ts'

/** Plugins of a data folder as rows: see files/plugins.ts for the files. */

const endings = { document: '.json', backup: '.json.backup', hidden: '.hidden' } as const
const activeMark = 'active-'

/** The plugin files of a folder as rows. */
export function pluginRows(folder: string): readonly SqliteRow[] {
  const rows = new Map<string, Record<string, Value>>()
  for (const name of listFolder(folder)) {
    if (name.startsWith('.')) continue
    for (const [column, ending] of Object.entries(endings)) {
      if (!name.endsWith(ending)) continue
      const id = name.slice(0, -ending.length)
      const row = rows.get(id) ?? { id, document: null, backup: null, hidden: false }
      row[column] = column === 'hidden' ? true : readFileSync(join(folder, name), 'utf8')
      rows.set(id, row)
      break
    }
  }
  return [...rows.values()]
}

/** The active plugin of each kind as rows. */
export function activePluginRows(folder: string): readonly SqliteRow[] {
  return listFolder(folder)
    .filter((name) => name.startsWith(activeMark))
    .map((name) => ({ kind: name.slice(activeMark.length), id: readFileSync(join(folder, name), 'utf8').trim() }))
    .filter(({ id }) => id !== '')
}

/** Writes rows as files. Throws `configuration` for a row with a name that is none of a file. */
export function writePlugin(folder: string, { id, document, backup, hidden }: SqliteRow): void {
  const name = fileName(id)
  if (document !== null) write(join(folder, `${name}${endings.document}`), document)
  if (backup !== null) write(join(folder, `${name}${endings.backup}`), backup)
  if (hidden) write(join(folder, `${name}${endings.hidden}`), '')
}

/** Writes the active plugin of a kind. */
export function writeActivePlugin(folder: string, { kind, id }: SqliteRow): void {
  write(join(folder, `${activeMark}${fileName(kind)}`), `${id}\n`)
}

function write(path: string, text: Value | undefined): void {
  writeFileSync(path, text as string, { mode: 0o600, flush: true })
}

/** A name from a database, which becomes that of a file. */
export function fileName(name: Value | undefined): string {
  if (typeof name === 'string' && /^(?!\.)[\w.-]{1,200}$/.test(name)) return name
  throw new AppError('configuration', `The database holds ${JSON.stringify(name)}, which is no name of a file`)
}
