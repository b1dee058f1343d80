import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('The recipe of a built file')

test('changes with the code that the file runs, not with comments, types or what else a door hands out', async () => {
  const { recipeOf } = await import(new URL('./bin/recipe.mjs', import.meta.resolve('#package')).href)
  const root = temporaryFolder()
  const write = (path: string, text: string) => writeFileSync(join(root, path), text)
  for (const room of ['words', 'maker']) mkdirSync(join(root, 'src', room), { recursive: true })
  write('src/words/words.ts', "export { one } from './one.ts'\nexport { other } from './other.ts'\n")
  write('src/words/one.ts', 'export const one = 1\n')
  write('src/words/other.ts', 'export const other = 2\n')
  write('src/maker/make.ts', "import { one } from '../words/words.ts'\nconsole.log(one)\n")
  const recipe = (): string => recipeOf(root, 'src/maker/make.ts').digest('hex')
  const first = recipe()
  write('src/words/other.ts', 'export const other = 3\n')
  write('src/words/one.ts', '/** A number. */\nexport const one: number = 1\n')
  assert.is(recipe(), first)
  write('src/words/one.ts', 'export const one = 4\n')
  assert.is.not(recipe(), first)
})

test.run()
