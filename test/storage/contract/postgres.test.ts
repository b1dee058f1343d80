import { suite } from '../../suite.ts'
import { postgresAt } from './postgres.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'

const test = suite('the contract of storage, kept by PostgreSQL')

const url = process.env.AICHAT_TEST_POSTGRES
const chosen = process.env.AICHAT_TEST_STORES?.split(',')

if (url)
  for (const rule of rules.filter(({ store }) => chosen?.includes(store) ?? true))
    test(`${partOf(rule)}: ${rule.says}`, () => check(rule, postgresAt(url)))

test.run()
