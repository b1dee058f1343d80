import { hostname } from 'node:os'
import * as assert from 'uvu/assert'
import { instanceName } from '../../src/app/instance.ts'
import { askInProcess, localOwner } from '../../src/operations/ask.ts'
import { showAudit } from '../../src/operations/audit.ts'
import { day } from '../../src/operations/day-input.ts'
import { activatePlugin, deactivatePlugin } from '../../src/operations/plugins.ts'
import { pluck } from '../helpers/pluck.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('operations in this process')

test('what changes something is recorded, under its caller', async () => {
  await using installation = openInstallation()
  const { ask } = askInProcess(installation.app, localOwner)
  await ask(activatePlugin, { id: 'groq' })
  assert.is(installation.app.plugins.active('chat')?.id, 'groq')
  await ask(deactivatePlugin, {})
  assert.is(installation.app.plugins.active('chat'), undefined)
  const { entries } = await ask(showAudit, {})
  assert.equal(pluck(entries, 'action', 'actor', 'subject'), [
    ['plugins.deactivate', 'local', 'groq'],
    ['plugins.activate', 'local', 'groq'],
  ])
})

test('a day may be the first of all, and a service is named by its machine and its port', () => {
  assert.equal([day.parse('1970-01-01T00:00:00Z'), day.safeParse('1969-12-31T23:59:59Z').success], [0, false])
  assert.equal(
    [[], [3001]].map((ports) => instanceName({ ownPorts: new Set(ports) })),
    [hostname(), `${hostname()}:3001`],
  )
})

test.run()
