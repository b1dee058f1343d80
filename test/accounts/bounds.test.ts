import * as assert from 'uvu/assert'
import { emailProblems, usernameProblems } from '../../src/accounts/users.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the bounds of an account')

const rows: readonly (readonly [what: string, problems: (text: string) => readonly string[], most: string])[] = [
  ['a username', usernameProblems, 'x'.repeat(64)],
  ['a username of letters beyond the first plane', usernameProblems, '𐐷'.repeat(64)],
  ['an e-mail address', emailProblems, `ada@${'x'.repeat(250)}`],
]

for (const [what, problems, most] of rows)
  test(`${what} may have ${[...most].length} characters and not one more`, () => {
    assert.equal(problems(most), [])
    assert.is(problems(`${most}x`).length, 1)
  })

test.run()
