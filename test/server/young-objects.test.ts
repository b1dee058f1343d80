import * as assert from 'uvu/assert'
import { keepNewObjectsYoung } from '../../src/server/young-objects.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('new objects of a service')

test('are young ones, unless the operator told V8 otherwise', () => {
  const set: string[] = []
  const begun = (...given: readonly string[]) => {
    keepNewObjectsYoung(given, (flag) => set.push(flag))
    return set.splice(0)
  }
  assert.equal(begun(), ['--no-allocation-site-pretenuring'])
  assert.equal(begun('--max-old-space-size=512'), ['--no-allocation-site-pretenuring'])
  for (const flag of [
    '--allocation-site-pretenuring',
    '--no-allocation-site-pretenuring',
    '--allocation_site_pretenuring',
  ])
    assert.equal(begun(flag), [])
})

test.run()
