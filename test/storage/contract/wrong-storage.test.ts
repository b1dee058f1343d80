import * as assert from 'uvu/assert'
import { suite } from '../../helpers/suite.ts'
import { flaws } from './flaws.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'
import { sqlite } from './sqlite.ts'

const test = suite('the contract of storage, broken on purpose')

test('there is a flaw for every part of the contract', () => {
  assert.equal([...new Set(flaws.map(partOf))].sort(), [...new Set(rules.map(partOf))].sort())
})

for (const flaw of flaws)
  test(`a storage with a flaw fails ${partOf(flaw)}`, async () => {
    const broken: string[] = []
    for (const rule of rules.filter((each) => partOf(each) === partOf(flaw)))
      await check(rule, sqlite, flaw).catch(() => broken.push(rule.says))
    assert.ok(broken.length > 0, 'no rule of this part noticed it')
  })

test.run()
