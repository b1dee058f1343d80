import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'

const test = suite('the port of storage')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const sources = ['src', 'speech'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
)
const outside = (folder: string) => sources.filter((file) => !file.startsWith(folder))
const holding = (files: readonly string[], pattern: RegExp) =>
  files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))

test('only the port imports a database, and only the composition root and backups open a storage', () => {
  for (const room of ['sqlite', 'postgres']) {
    const importers = holding(outside(`src/storage/${room}`), new RegExp(`storage/${room}/|'\\.{1,2}/${room}/`))
    // names.ts is the small door of completions, which load nothing else; a transfer moves rows from one database to the other.
    assert.equal(
      importers.filter((file) => !file.startsWith('src/storage/transfer/')),
      room === 'sqlite' ? ['src/storage/names.ts', 'src/storage/open-storage.ts'] : ['src/storage/open-storage.ts'],
    )
  }
  const importers = holding(outside('src/storage'), /\b(?:openStorage|openStorageCopies|isStorageAbsent|readNames)\b/)
  assert.equal(
    importers.filter((file) => !/^src\/(?:app|backup)\//.test(file)),
    [],
  )
})

test('no other room knows an error code of SQLite, or where the plugins lie', () => {
  assert.equal(holding(outside('src/storage'), /SQLITE_[A-Z]/), [])
  assert.equal(holding(outside('src/storage'), /openPluginFiles/), [])
})

test.run()
