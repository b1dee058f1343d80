import * as assert from 'uvu/assert'
import { isWholeRun, suite } from '../../helpers/suite.ts'
import { flaws } from './flaws.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'
import { sqlite } from './sqlite.ts'

const test = suite('the contract of storage, broken on purpose')

test('there is a flaw for every part of the contract', () => {
  assert.equal([...new Set(flaws.map(partOf))].sort(), [...new Set(rules.map(partOf))].sort())
})

/** The first flaw of each topic stands for the others, but for crashes, which take a process each. */
const sample = flaws.filter(
  ({ topic }, at) => topic !== 'crash' && flaws.findIndex((each) => each.topic === topic) === at,
)

for (const flaw of isWholeRun ? flaws : sample)
  test(`a storage with a flaw fails ${partOf(flaw)}`, async () => {
    const broken: string[] = []
    for (const rule of rules.filter((each) => partOf(each) === partOf(flaw)))
      if (broken.length === 0) await check(rule, sqlite, flaw).catch(() => broken.push(rule.says))
    assert.ok(broken.length > 0, 'no rule of this part noticed it')
  })

test.run()
