import * as assert from 'uvu/assert'
import { newFolder, openShop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('verifying a stored persona')

const ofPersona = (id: string) => `(SELECT scope_id FROM memory_scope WHERE persona_id = '${id}')`
const newest = (id: string) => `(SELECT max(memory_id) FROM memory WHERE scope_id = ${ofPersona(id)})`
const firstRecord = (id: string) =>
  `log_id = (SELECT log_id FROM adaptation_log WHERE persona_id = '${id}') AND sequence = 1`

/** What another program does to the database, and the problem that names it. */
const changes: Readonly<Record<string, readonly [statement: (id: string) => string, problem: RegExp]>> = {
  'a memory whose text was altered': [
    (id) => `UPDATE memory SET content = 'Drinks gin' WHERE memory_id = ${newest(id)}`,
    /^memory \S+: it was altered by another program$/m,
  ],
  'a memory that was removed': [
    (id) => `DELETE FROM memory WHERE memory_id = ${newest(id)}`,
    /^memories: 1 of them were removed by another program$/m,
  ],
  'a record of the log that was altered': [
    (id) =>
      `UPDATE adaptation SET record = json_set(record, '$.trigger_event', 'manual_request') WHERE ${firstRecord(id)}`,
    /does not match its hash/,
  ],
  'a learned state that was altered': [
    (id) => `UPDATE persona_state SET learned = replace(learned, 'warmth', 'malice') WHERE persona_id = '${id}'`,
    /^state: it differs from the state that the log gives$/m,
  ],
}

for (const [title, [statement, problem]] of Object.entries(changes))
  test(`names ${title}`, async () => {
    const shop = await openShop(newFolder(), { withoutChildren: true })
    try {
      const persona = await shop.stock('u1', 3)
      assert.equal((await shop.packages.verifyStored(persona)).problems, [])
      shop.db.exec(statement(persona.id))
      const { valid, kind, problems } = await shop.packages.verifyStored(persona)
      assert.equal([valid, kind], [false, 'damaged'])
      assert.match(problems.join('\n'), problem)
    } finally {
      shop.close()
    }
  })

test.run()
