import type { Hash } from 'node:crypto'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the recipe of built data')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

const recipe = (await import(pathToFileURL(join(root, 'bin', 'recipe.mjs')).href)) as {
  sourcesBehind(folder: string, source: string): readonly string[]
  recipeOf(folder: string, source: string): Hash
}
const digestIn = (folder: string, source: string) => recipe.recipeOf(folder, source).digest('hex')

test('of the word vectors names every source that defines a word', () => {
  const files = recipe.sourcesBehind(root, 'src/word-vectors/train.ts')
  for (const name of ['ranking-terms', 'irregular-forms', 'stem'])
    assert.ok(files.includes(join('src', 'personas', 'memory', `${name}.ts`)), name)
  assert.ok(files.includes(join('src', 'word-vectors', 'words.ts')))
  assert.ok(files.length < 30, 'and not everything there is')
})

test('is another one as soon as any of its sources is changed, and no other', () => {
  const folder = temporaryFolder()
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  write('a/train.ts', "import { x } from './near.ts'\nimport 'node:fs'\nconst later = import('../b/later.ts')\n")
  write('a/near.ts', "export { y } from '../b/far.ts'\nimport type { T } from './train.ts'\n")
  write('b/far.ts', 'export const y = 1\n')
  write('b/later.ts', '')
  write('b/other.ts', '')
  const digest = () => digestIn(folder, 'a/train.ts')
  let before = digest()
  assert.is(digest(), before)
  appendFileSync(join(folder, 'b', 'other.ts'), 'export const no = 1\n')
  assert.is(digest(), before)
  for (const name of ['a/train.ts', 'a/near.ts', 'b/far.ts', 'b/later.ts']) {
    appendFileSync(join(folder, name), 'export const changed = 1\n')
    const after = digest()
    assert.is.not(after, before, name)
    before = after
  }
})

const program = `/** Says why. */
export function weigh(words: readonly string[], factor = 1_000): number {
  const text = 'it is // no comment' // one
  let sum = 0
  for (const word of words) sum += /[/*]/.test(word) ? word.length : -factor
  return sum + text.length
}
`

const sameProgram: readonly (readonly [name: string, text: string])[] = [
  ['a comment that says something else', program.replace('Says why.', 'Says why, and what for: // nested.')],
  ['no comment at all', program.replace(/^\/\*\*.*\n/, '').replace(' // one', '')],
  ['other white space, quotes and commas', reformatted(program)],
  ['types alone', `type Word = string\n${program.replace('readonly string[]', 'readonly Word[]')}`],
]

for (const [name, text] of sameProgram)
  test(`is the same for ${name}`, () => {
    assert.is(digestOf(text), digestOf(program))
  })

const otherProgram: readonly (readonly [name: string, text: string])[] = [
  ['a text that looks like a comment', program.replace('no comment', 'a comment')],
  ['a number', program.replace('1_000', '1_001')],
  ['a sign', program.replace('-factor', '+factor')],
  ['an operator', program.replace('sum += ', 'sum -= ')],
  ['a regular expression', program.replace('[/*]', '[/+]')],
  ['a name', program.replaceAll('sum', 'total')],
  ['a constant that becomes a variable', program.replace('const text', 'let text')],
]

for (const [name, text] of otherProgram)
  test(`is another one for ${name}`, () => {
    assert.is.not(text, program)
    assert.is.not(digestOf(text), digestOf(program))
  })

function reformatted(text: string): string {
  return text
    .replaceAll("'", '"')
    .replace('factor = 1_000)', '\n factor = 1_000,\n)')
    .replaceAll('\n  ', '\n\t\t')
    .replace('return sum', '\n\nreturn sum')
}

/** The digest of a program in a folder of its own. */
function digestOf(text: string): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'program.ts'), text)
  return digestIn(folder, 'program.ts')
}

test.run()
