import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { operations } from '../../src/operations/table.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the table of operations')

test('each is in the console, or the manual of the daemon names it with the reason why not', () => {
  const folder = packageFolder('src/console')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  // `place` stands in a file for the path at the beginning of others.
  const paths = sources.flatMap((text) => {
    const place = /const place = path`([^`]+)`/.exec(text)?.[1] ?? ''
    const calls = text
      .replaceAll('${place}', () => place)
      .matchAll(
        /(?:'([A-Z]{3,6})',\s*|\b(?:(?:entered|events|upload)(?:<\w+>)?\(|path: ))?(?:path)?['`](\/api\/[^'`?]+)/g,
      )
    return [...calls].map(([whole, method, path = '']) => {
      const usual = /^(?:\w+(?:<\w+>)?\(|path:)/.test(whole) ? 'POST' : 'GET'
      return { method: method ?? usual, path: path.replace(/\$\{[^}]*\}/g, ':') }
    })
  })
  const left = operations.filter(({ method, path }) => {
    const place = path.replace(/:\w+/g, ':')
    return !paths.some((one) => one.method === method && [place, `${place}:`].includes(one.path))
  })
  const manual = readFileSync(join(packageFolder('man'), 'aichat-serve.md'), 'utf8')
  const [, table = ''] = manual.split('| operation | why |')
  const rows = table
    .slice(0, table.indexOf('\n\n'))
    .split('\n')
    .map((row) => row.split(' | ')[0]!)
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => name!))
  assert.equal(named.toSorted(), left.map(({ name }) => name).toSorted())
})

test.run()
