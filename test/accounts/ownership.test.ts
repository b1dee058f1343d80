import * as assert from 'uvu/assert'
import { adaptPersona, showState } from '../../src/operations/adaptation.ts'
import { askInProcess, localOwner } from '../../src/operations/ask.ts'
import { addMemory, listMemories } from '../../src/operations/memories.ts'
import type { Caller } from '../../src/operations/operation.ts'
import { verifyPersona } from '../../src/operations/packages.ts'
import { createPersona, listPersonas } from '../../src/operations/personas.ts'
import { pluck } from '../helpers/pluck.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what belongs to whom when users come and go')

test('what was local belongs to the first administrator, whole, and to no later user', async () => {
  const { app, close } = openInstallation()
  const local = askInProcess(app, localOwner)
  const persona = await local.ask(createPersona, { name: 'Ada', model: 'm' })
  await local.ask(addMemory, { id: persona.id, content: 'The cat is called Mog.' })
  await local.ask(adaptPersona, {
    id: persona.id,
    adaptation_type: 'preference',
    trigger_event: 'explicit_feedback',
    changes: [{ preference: 'language', value: 'English' }],
  })
  const { logins } = await app.accounts()
  const admin = asCaller(await logins.register({ username: 'admin', password: goodPassword }, undefined))
  const later = asCaller(await logins.register({ username: 'later', password: goodPassword }, undefined))

  const asked = askInProcess(app, admin)
  const [adopted] = (await asked.ask(listPersonas, {})).personas
  assert.equal([adopted?.id, adopted?.user_id], [persona.id, admin.id])
  assert.equal(pluck((await asked.ask(listMemories, { id: persona.id })).memories, 'content', 'user_id'), [
    ['The cat is called Mog.', admin.id],
  ])
  const state = await asked.ask(showState, { id: persona.id })
  assert.equal([state.user_id, Object.keys(state.learned_preferences)], [admin.id, ['language']])
  const { valid, problems } = await asked.ask(verifyPersona, { id: persona.id, package: nothing() })
  assert.ok(valid, problems.join('; '))
  assert.equal((await askInProcess(app, later).ask(listPersonas, {})).personas, [])
  assert.equal((await local.ask(listPersonas, {})).personas, [])
  await close()
})

test('what a removed user owned is gone, and nothing of anybody else', async () => {
  const { app, close } = openInstallation()
  const { logins, users } = await app.accounts()
  const admin = asCaller(await logins.register({ username: 'admin', password: goodPassword }, undefined))
  const ada = asCaller(await logins.register({ username: 'ada', password: goodPassword }, undefined))
  for (const caller of [admin, ada]) {
    const { ask } = askInProcess(app, caller)
    const persona = await ask(createPersona, { name: 'P', model: 'm' })
    await ask(addMemory, { id: persona.id, content: `A memory of ${caller.username}.` })
  }
  await users.remove(ada.id)
  assert.is((await askInProcess(app, ada).ask(listPersonas, {})).personas.length, 0)
  const [kept] = (await askInProcess(app, admin).ask(listPersonas, {})).personas
  assert.is((await askInProcess(app, admin).ask(listMemories, { id: kept!.id })).total, 1)
  await close()
})

test.run()

function asCaller({ user }: { readonly user: Caller }): Caller {
  return { id: user.id, username: user.username, role: user.role }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
