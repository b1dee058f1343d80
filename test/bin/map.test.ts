import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const { withMap } = (await import(new URL('bin/map.mjs', import.meta.resolve('#package')).href)) as {
  readonly withMap: (root: string) => string
}

const test = suite('the map of the rooms')

test('CONTRIBUTING.md shows what the doors say, as `npm run docs` writes it', () => {
  assert.is(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'), withMap(root))
})

test('the files at which a reader shall begin exist', () => {
  const rows = [...withMap(root).matchAll(/^\| `((?:src\/)?[\w-]+)` \| .*? Begin with: (.*) \|$/gm)]
  assert.is(rows.length, 26)
  const missing = rows.flatMap(([, room, text]) => {
    const files = [...text!.matchAll(/`([\w./-]*[./][\w./-]*)`/g)].map(([, file]) => file!)
    assert.ok(files.length > 0, room)
    return files.filter((file) => ![`${room}/${file}`, `src/${file}`].some((path) => existsSync(join(root, path))))
  })
  assert.equal(missing, [])
})

test.run()
