import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const seals = suite('verifying a persona as it is stored')

let installation: Installation
let url = ''

seals.before(async () => {
  installation = openInstallation()
  url = await installation.serve(() => ({ caller: { id: 'u1', username: 'u1', role: 'user' } }))
})

seals.after(() => installation.close())

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are tested
async function ask(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${url}/api/personas${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  assert.ok(response.ok, `${method} ${path}: ${response.status}`)
  return response.json()
}

interface Stored {
  readonly id: string
  /** Ids of its memories: Tea, Coffee, Cocoa. */
  readonly memories: readonly string[]
}

/** A persona with three memories and something learned. */
async function newPersona(): Promise<Stored> {
  const { id } = await ask('POST', '', { name: 'Ada', model: 'gpt-x', system_prompt: 'Be Ada.' })
  const memories: string[] = []
  for (const content of ['Drinks tea', 'Drinks coffee', 'Drinks cocoa'])
    memories.push((await ask('POST', `/${id}/memory`, { content })).id)
  for (const target of [1, -1])
    await ask('POST', `/${id}/state/adaptation`, {
      adaptation_type: 'tone',
      trigger_event: 'explicit_instruction',
      changes: [{ trait: 'warmth', target }],
    })
  return { id, memories }
}

/** Does something to the database as a person with `sqlite3` does, foreign keys being off unless they say so. */
function behindTheBack(deed: (db: BetterSqlite3.Database) => void): void {
  const db = new BetterSqlite3(join(installation.home, 'aichat.db'))
  db.pragma('foreign_keys = OFF')
  try {
    deed(db)
  } finally {
    db.close()
  }
}

async function problemsOf(id: string): Promise<string> {
  const { valid, problems, kind } = await ask('POST', `/${id}/verify`)
  assert.equal([valid, kind], problems.length === 0 ? [true, null] : [false, 'damaged'])
  return problems.join('\n')
}

const log = '(SELECT log_id FROM adaptation_log WHERE persona_id = ?)'
const number = '(SELECT memory_id FROM memory WHERE id = ?)'

/** Changes of the database by another program, and the resulting messages. */
const edits: Record<
  string,
  readonly [said: (stored: Stored) => string, deed: (db: BetterSqlite3.Database, stored: Stored) => void]
> = {
  'a memory whose text was altered': [
    ({ memories }) => `memory ${memories[0]}: it was altered by another program`,
    (db, { memories }) => db.prepare("UPDATE memory SET content = 'Drinks gin' WHERE id = ?").run(memories[0]),
  ],
  'a memory whose importance was altered': [
    ({ memories }) => `memory ${memories[1]}: it was altered by another program`,
    (db, { memories }) => db.prepare('UPDATE memory SET importance = 1 WHERE id = ?').run(memories[1]),
  ],
  'a memory whose embedding was altered': [
    ({ memories }) => `memory ${memories[2]}: its embedding was altered by another program`,
    (db, { memories }) =>
      db
        .prepare(`UPDATE memory_vector SET vector = zeroblob(length(vector)) WHERE memory_id = ${number}`)
        .run(memories[2]),
  ],
  'a memory that was added': [
    () => 'memory forged: it was added by another program',
    (db, { memories }) => {
      const columns = (db.pragma('table_info(memory)') as { name: string }[]).map(({ name }) => name)
      const values = columns.map((name) =>
        name === 'memory_id' ? 'memory_id + 100' : name === 'id' ? "'forged'" : name,
      )
      db.prepare(`INSERT INTO memory (${columns.join()}) SELECT ${values.join()} FROM memory WHERE id = ?`).run(
        memories[0],
      )
    },
  ],
  'a memory that was added under a number of nobody': [
    () => 'memory forged: it was added by another program',
    (db, { memories }) => {
      const columns = (db.pragma('table_info(memory)') as { name: string }[]).map(({ name }) => name)
      const values = columns.map((name) => (name === 'memory_id' ? '999999' : name === 'id' ? "'forged'" : name))
      db.prepare('DELETE FROM memory WHERE memory_id = 999999').run()
      db.prepare(`INSERT INTO memory (${columns.join()}) SELECT ${values.join()} FROM memory WHERE id = ?`).run(
        memories[0],
      )
    },
  ],
  'a memory that was given to another persona': [
    ({ memories }) => `memory ${memories[1]}: it was taken away by another program`,
    (db, { memories }) =>
      db.prepare('UPDATE memory SET scope_id = (SELECT max(scope_id) FROM memory_scope) WHERE id = ?').run(memories[1]),
  ],
  'a memory that was removed': [
    ({ memories }) => `memory ${memories[2]}: it was removed by another program`,
    (db, { memories }) => db.prepare('DELETE FROM memory WHERE id = ?').run(memories[2]),
  ],
  'a memory that was removed with its seal': [
    () => 'memories: 1 of them were removed by another program',
    (db, { memories }) => {
      db.prepare(`DELETE FROM memory_seal WHERE memory_id = ${number}`).run(memories[2])
      db.prepare('DELETE FROM memory WHERE id = ?').run(memories[2])
    },
  ],
  'a memory that was removed, its seal too, and the number of them lowered': [
    () => 'memories: the seal of their number was altered by another program',
    (db, { memories }) => {
      db.prepare(
        `UPDATE memory_scope_seal SET memories = memories - 1 WHERE scope_id = (SELECT scope_id FROM memory WHERE id = ?)`,
      ).run(memories[2])
      db.prepare(`DELETE FROM memory_seal WHERE memory_id = ${number}`).run(memories[2])
      db.prepare('DELETE FROM memory WHERE id = ?').run(memories[2])
    },
  ],
  'memories that were all removed with all that told of them': [
    () => 'memories: another program put others in their place',
    (db, { id }) => {
      const scope = db.prepare('SELECT scope_id FROM memory_scope WHERE persona_id = ?').pluck().get(id)
      for (const table of ['memory_seal', 'memory'])
        db.prepare(`DELETE FROM ${table} WHERE memory_id >> 24 = ?`).run(scope)
      for (const table of ['memory_scope_seal', 'memory_scope'])
        db.prepare(`DELETE FROM ${table} WHERE scope_id = ?`).run(scope)
    },
  ],
  'a record of the log that was altered': [
    () => 'does not match its hash',
    (db, { id }) =>
      db
        .prepare(
          `UPDATE adaptation SET record = replace(record, 'explicit', 'implicit') WHERE log_id = ${log} AND sequence = 1`,
        )
        .run(id),
  ],
  'a record of the log that was removed with what it changed': [
    () => 'state: it was altered by another program',
    (db, { id }) => {
      const first = JSON.parse(
        db.prepare(`SELECT record FROM adaptation WHERE log_id = ${log} AND sequence = 1`).pluck().get(id) as string,
      )
      db.prepare(`DELETE FROM adaptation WHERE log_id = ${log} AND sequence = 2`).run(id)
      db.prepare('UPDATE persona_state SET sequence = 1, hash = ? WHERE persona_id = ?').run(first.hash, id)
    },
  ],
  'a state that was altered': [
    () => 'state: it was altered by another program',
    (db, { id }) =>
      db
        .prepare("UPDATE persona_state SET learned = replace(learned, 'warmth', 'malice') WHERE persona_id = ?")
        .run(id),
  ],
  'a log and state that were removed': [
    () => 'state: it was removed by another program',
    (db, { id }) => {
      for (const table of ['adaptation_log', 'persona_state'])
        db.prepare(`DELETE FROM ${table} WHERE persona_id = ?`).run(id)
    },
  ],
  'a persona whose prompt was altered': [
    () => 'persona: it was altered by another program',
    (db, { id }) => db.prepare("UPDATE persona SET system_prompt = 'Be Eve.' WHERE id = ?").run(id),
  ],
  'a persona whose seal was removed': [
    () => 'persona: it was added by another program',
    (db, { id }) => db.prepare('DELETE FROM persona_seal WHERE persona_id = ?').run(id),
  ],
}

for (const [title, [said, deed]] of Object.entries(edits))
  seals(`names ${title} in the database, also after more was stored`, async () => {
    const stored = await newPersona()
    // Numbers are not reused.
    await newPersona()
    assert.is(await problemsOf(stored.id), '')
    behindTheBack((db) => deed(db, stored))
    assert.ok((await problemsOf(stored.id)).includes(said(stored)), await problemsOf(stored.id))
    // Neither a new memory nor the old one stored again makes it look intact.
    for (const content of ['Drinks tea', 'Drinks coffee', 'Drinks water'])
      await ask('POST', `/${stored.id}/memory`, { content, metadata: { pinned: true } }).catch(() => undefined)
    assert.is.not(await problemsOf(stored.id), '')
  })

seals('a memory that was removed, and an older one put back in its place, is seen', async () => {
  const { id, memories } = await newPersona()
  let kept: unknown[] = []
  let seal: unknown[] = []
  behindTheBack((db) => {
    kept = db.prepare('SELECT * FROM memory WHERE id = ?').raw().get(memories[0]) as unknown[]
    seal = db.prepare('SELECT * FROM memory_seal WHERE id = ?').raw().get(memories[0]) as unknown[]
  })
  await ask('DELETE', `/${id}/memory?before=${Date.now() + 1000}`)
  const { id: last } = await ask('POST', `/${id}/memory`, { content: 'Drinks water' })
  assert.is(await problemsOf(id), '')
  behindTheBack((db) => {
    for (const table of ['memory', 'memory_seal']) db.prepare(`DELETE FROM ${table} WHERE id = ?`).run(last)
    db.prepare(`INSERT INTO memory VALUES (${kept.map(() => '?')})`).run(kept)
    db.prepare(`INSERT INTO memory_seal VALUES (${seal.map(() => '?')})`).run(seal)
  })
  assert.match(await problemsOf(id), /memories: another program put others in the place of some$/)
})

seals('what is put in the place of a persona that was altered is sound again', async () => {
  for (const deed of [
    (db: BetterSqlite3.Database, id: string) => db.prepare("UPDATE persona SET name = 'Eve' WHERE id = ?").run(id),
    (db: BetterSqlite3.Database, id: string) => db.prepare('DELETE FROM persona_seal WHERE persona_id = ?').run(id),
  ]) {
    const { id } = await newPersona()
    await ask('POST', `/${id}/backup`)
    behindTheBack((db) => deed(db, id))
    assert.is.not(await problemsOf(id), '')
    await ask('PUT', `/${id}`, { name: 'Ada', model: 'gpt-x' })
    assert.is.not(await problemsOf(id), '', 'a change of our own hides nothing')
    await ask('POST', `/${id}/restore`, {})
    assert.is(await problemsOf(id), '')
  }
})

seals('a restored backup is sound again, and says since when it would show', async () => {
  const { id, memories } = await newPersona()
  await ask('POST', `/${id}/backup`)
  behindTheBack((db) => db.prepare("UPDATE memory SET content = 'Drinks gin' WHERE id = ?").run(memories[0]))
  await ask('POST', `/${id}/restore`, {})
  const { valid, problems, sealed_since } = await ask('POST', `/${id}/verify`)
  assert.equal([valid, problems], [true, []])
  assert.ok(sealed_since > 0 && sealed_since <= Date.now())
})

seals.run()
