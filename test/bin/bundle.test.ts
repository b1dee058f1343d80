// Some with --all only: a whole sample.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { inCircles } from '../helpers/source-tree.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the files of the bundle')

const folder = fileURLToPath(new URL('./dist/bundle/', import.meta.resolve('#package')))
// With `npm run dev` there may be none, or one of other sources.
const isBuilt = !import.meta.url.endsWith('.ts')
const texts = new Map(
  (isBuilt ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)

/** The imports of a file from others of the bundle, as the compiler writes them. */
function importsOf(text: string): readonly { readonly from: string; readonly names: readonly string[] }[] {
  const found = text.matchAll(/^import (?:\{([^}]*)\} from )?"\.\/([\w.-]+\.js)";$/gm)
  return [...found].map(([, names = '', from]) => ({
    from: from!,
    names: clausesOf(names).map((clause) => clause.split(' as ')[0]!),
  }))
}

function exportsOf(text: string): readonly string[] {
  const found = text.matchAll(/^export \{([^}]*)\};$/gm)
  return [...found].flatMap(([, names]) => clausesOf(names!).map((clause) => clause.split(' as ').at(-1)!))
}

function clausesOf(names: string): readonly string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

test.whole('import from each other what is there, in every file', () => {
  if (!isBuilt) return
  const missing = [...texts].flatMap(([name, text]) => {
    const named = importsOf(text).flatMap(({ from, names }) => {
      const offered = new Set(exportsOf(texts.get(from) ?? ''))
      return names.filter((each) => !offered.has(each)).map((each) => `${name}: ${each} of ${from}`)
    })
    const onDemand = [...text.matchAll(/\bimport\("\.\/([\w.-]+\.js)"\)/g)].map(([, from]) => from!)
    const absent = [...importsOf(text).map(({ from }) => from), ...onDemand].filter((from) => !texts.has(from))
    return [...named, ...absent.map((from) => `${name}: ${from}`)]
  })
  assert.ok(texts.size > 100, `${texts.size} files`)
  assert.equal(missing, [])
})

test('lead to no file back, though some were joined', () => {
  if (!isBuilt) return
  const arrows = new Map([...texts].map(([name, text]) => [name, importsOf(text).map(({ from }) => from)]))
  assert.ok([...texts.keys()].some((name) => name.startsWith('joined-')))
  assert.equal(inCircles(arrows), [])
})

test.run()
