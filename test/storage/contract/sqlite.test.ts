import { isWholeRun, suite } from '../../helpers/suite.ts'
import { check, partOf, type Rule } from './rule.ts'
import { rules } from './rules.ts'
import { sqlite } from './sqlite.ts'

const test = suite('the contract of storage, kept by SQLite')

/** Each crash takes a process of its own: those of one store stand for the others. */
const isChosen = ({ store, topic }: Rule) => isWholeRun || topic !== 'crash' || store === 'packages'

for (const rule of rules.filter(isChosen)) test(`${partOf(rule)}: ${rule.says}`, () => check(rule, sqlite))

test.run()
