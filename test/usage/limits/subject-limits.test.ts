import * as assert from 'uvu/assert'
import type { LimitDocument } from '../../../src/usage/limits/documents.ts'
import { SubjectLimits } from '../../../src/usage/limits/subject-limits.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the limits of a subject')

test('count requests where any rate or a number at the same time is limited, and tokens where these are', () => {
  for (const [document, isRated, isRatedByTokens] of [
    [{ budgets: [{ nano: 7, period: 'day' }] }, false, false],
    [{ rpm: 1 }, true, false],
    [{ rpd: 1 }, true, false],
    [{ parallel: 1 }, true, false],
    [{ tpm: 1 }, true, true],
    [{ tpd: 1 }, true, true],
  ] as const satisfies readonly (readonly [LimitDocument, boolean, boolean])[]) {
    const limits = new SubjectLimits('all', document, false)
    assert.equal([limits.isRated, limits.isRatedByTokens], [isRated, isRatedByTokens], JSON.stringify(document))
  }
})

test.run()
