import * as assert from 'uvu/assert'
import { makeKeyText } from '../../src/accounts/keys/key-text.ts'
import { createLog, type LogFormat } from '../../src/server/log.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the log')

for (const format of ['text', 'json', 'journal'] as const satisfies readonly LogFormat[])
  test(`written as ${format} has no API key in it, wherever one comes from`, () => {
    const [one, two] = [makeKeyText(), makeKeyText()]
    let written = ''
    const write = (line: string) => {
      written += line
    }
    const log = createLog('debug', format, { write, flush() {} })
    log.error(`refused ${one}`, { reason: `"${two}" is not known`, status: 401 })
    assert.not(written.includes(one.slice(4, 36)) || written.includes(two.slice(4, 36)))
    assert.is(written.split('[key]').length, 3)
    assert.match(written, /401/)
  })

test.run()
