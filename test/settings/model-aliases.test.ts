import { writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import {
  aliasFile,
  isAliasName,
  isAliasTarget,
  mostAliases,
  readAliases,
  resolveAlias,
} from '../../src/settings/model-aliases.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the file of model aliases')

test('names have 64 characters and models 300, and not one more', () => {
  assert.ok(isAliasName('x'.repeat(64)))
  assert.not(isAliasName('x'.repeat(65)))
  assert.ok(isAliasTarget('x'.repeat(300)))
  for (const model of ['x'.repeat(301), '', ' x', 'x\n']) assert.not(isAliasTarget(model), model)
})

test('is read where each entry is a name and a model, and refused as a whole otherwise', () => {
  const config = temporaryFolder()
  const read = (content: unknown) => {
    writeFileSync(aliasFile({ config }), JSON.stringify(content))
    return readAliases({ config })
  }
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, 'm']))
  assert.is(readAliases({ config }).size, 0)
  assert.is(read(many(mostAliases)).size, mostAliases)
  assert.equal([resolveAlias('a1', { config }), resolveAlias('p:a1', { config })], ['m', 'p:a1'])
  for (const wrong of [many(mostAliases + 1), { 'a:b': 'm' }, { a: 1 }, { a: '' }, ['m'], null, 1])
    assert.throws(() => read(wrong), /Invalid model aliases/, JSON.stringify(wrong).slice(0, 40))
})

test.run()
