import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../suite.ts'

const test = suite('the recipe of built data')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

/** The result of a function of bin/recipe.mjs, run in its own process. */
function ask(call: string, folder: string, source: string): unknown {
  const script = `import * as recipe from ${JSON.stringify(join(root, 'bin', 'recipe.mjs'))}
    const [folder, source] = process.argv.slice(1)
    process.stdout.write(JSON.stringify(${call}))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, folder, source], {
    encoding: 'utf8',
  })
  assert.is(stderr, '')
  return JSON.parse(stdout)
}

test('of the word vectors names every source that defines a word', () => {
  const files = ask('recipe.sourcesBehind(folder, source)', root, 'src/word-vectors/train.ts') as string[]
  for (const name of ['ranking-terms', 'irregular-forms', 'stem'])
    assert.ok(files.includes(join('src', 'personas', 'memory', `${name}.ts`)), name)
  assert.ok(files.includes(join('src', 'word-vectors', 'words.ts')))
  assert.ok(files.length < 30, 'and not everything there is')
})

test('is another one as soon as any of its sources is changed, and no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-recipe-'))
  try {
    const write = (name: string, text: string) => {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    write('a/train.ts', "import { x } from './near.ts'\nimport 'node:fs'\nconst later = import('../b/later.ts')\n")
    write('a/near.ts', "export { y } from '../b/far.ts'\nimport type { T } from './train.ts'\n")
    write('b/far.ts', 'export const y = 1\n')
    write('b/later.ts', '')
    write('b/other.ts', '')
    const digest = () => ask("recipe.recipeOf(folder, source).digest('hex')", folder, 'a/train.ts')
    let before = digest()
    assert.is(digest(), before)
    appendFileSync(join(folder, 'b', 'other.ts'), '// no part of it\n')
    assert.is(digest(), before)
    for (const name of ['a/train.ts', 'a/near.ts', 'b/far.ts', 'b/later.ts']) {
      appendFileSync(join(folder, name), '// changed\n')
      const after = digest()
      assert.is.not(after, before, name)
      before = after
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
