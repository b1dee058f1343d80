import { suite } from '../../helpers/suite.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'
import { sqlite } from './sqlite.ts'

const test = suite('the contract of storage, kept by SQLite')

for (const rule of rules) test(`${partOf(rule)}: ${rule.says}`, () => check(rule, sqlite))

test.run()
