import * as assert from 'uvu/assert'
import type { Installation } from '../helpers/program/installation.ts'

/** A database as another program changes it, without the key, foreign keys and triggers. */
export interface Outside {
  run(...statements: readonly string[]): Promise<void>
  rows(query: string): Promise<readonly (readonly unknown[])[]>
  columns(table: string): Promise<readonly string[]>
  /** The assignment that fills a row's vector with zeros. */
  readonly emptyVector: string
}

/** The installation whose database is changed. */
export interface Sealed {
  readonly installation: Installation
  readonly outside: Outside
}

interface Stored {
  readonly id: string
  /** Ids of its memories: Tea, Coffee, Cocoa. */
  readonly memories: readonly [string, string, string]
}

type Deed = (db: Outside, stored: Stored) => Promise<void>

const log = (id: string) => `(SELECT log_id FROM adaptation_log WHERE persona_id = '${id}')`
const number = (id: string) => `(SELECT memory_id FROM memory WHERE id = '${id}')`

/** Adds a memory that is the given one under another id and this number. */
async function forge(db: Outside, id: string, memoryId: string): Promise<void> {
  const columns = await db.columns('memory')
  const values = columns.map((name) => (name === 'memory_id' ? memoryId : name === 'id' ? "'forged'" : name))
  await db.run(
    "DELETE FROM memory WHERE id = 'forged'",
    `INSERT INTO memory (${columns.join()}) SELECT ${values.join()} FROM memory WHERE id = '${id}'`,
  )
}

/** Changes of the database by another program, and the resulting messages. */
const edits: Record<string, readonly [said: (stored: Stored) => string, deed: Deed]> = {
  'a memory whose text was altered': [
    ({ memories }) => `memory ${memories[0]}: it was altered by another program`,
    (db, { memories }) => db.run(`UPDATE memory SET content = 'Drinks gin' WHERE id = '${memories[0]}'`),
  ],
  'a memory whose importance was altered': [
    ({ memories }) => `memory ${memories[1]}: it was altered by another program`,
    (db, { memories }) => db.run(`UPDATE memory SET importance = 1 WHERE id = '${memories[1]}'`),
  ],
  'a memory whose embedding was altered': [
    ({ memories }) => `memory ${memories[2]}: its embedding was altered by another program`,
    (db, { memories }) => db.run(`UPDATE memory_vector SET ${db.emptyVector} WHERE memory_id = ${number(memories[2])}`),
  ],
  'a memory that was added': [
    () => 'memory forged: it was added by another program',
    (db, { memories }) => forge(db, memories[0], 'memory_id + 100'),
  ],
  'a memory that was added under a number of nobody': [
    () => 'memory forged: it was added by another program',
    (db, { memories }) => forge(db, memories[0], '999999'),
  ],
  'a memory that was given to another persona': [
    ({ memories }) => `memory ${memories[1]}: it was taken away by another program`,
    (db, { memories }) =>
      db.run(`UPDATE memory SET scope_id = (SELECT max(scope_id) FROM memory_scope) WHERE id = '${memories[1]}'`),
  ],
  'a memory that was removed': [
    ({ memories }) => `memory ${memories[2]}: it was removed by another program`,
    (db, { memories }) => db.run(`DELETE FROM memory WHERE id = '${memories[2]}'`),
  ],
  'a memory that was removed with its seal': [
    () => 'memories: 1 of them were removed by another program',
    (db, { memories }) =>
      db.run(
        `DELETE FROM memory_seal WHERE memory_id = ${number(memories[2])}`,
        `DELETE FROM memory WHERE id = '${memories[2]}'`,
      ),
  ],
  'a memory that was removed, its seal too, and the number of them lowered': [
    () => 'memories: the seal of their number was altered by another program',
    (db, { memories }) =>
      db.run(
        `UPDATE memory_scope_seal SET memories = memories - 1
          WHERE scope_id = (SELECT scope_id FROM memory WHERE id = '${memories[2]}')`,
        `DELETE FROM memory_seal WHERE memory_id = ${number(memories[2])}`,
        `DELETE FROM memory WHERE id = '${memories[2]}'`,
      ),
  ],
  'memories that were all removed with all that told of them': [
    () => 'memories: another program put others in their place',
    async (db, { id }) => {
      const [[scope] = []] = await db.rows(`SELECT scope_id FROM memory_scope WHERE persona_id = '${id}'`)
      await db.run(
        ...['memory_seal', 'memory'].map((table) => `DELETE FROM ${table} WHERE memory_id >> 24 = ${scope}`),
        ...['memory_scope_seal', 'memory_scope'].map((table) => `DELETE FROM ${table} WHERE scope_id = ${scope}`),
      )
    },
  ],
  'a record of the log that was altered': [
    () => 'does not match its hash',
    (db, { id }) =>
      db.run(
        `UPDATE adaptation SET record = replace(record, 'explicit', 'implicit') WHERE log_id = ${log(id)} AND sequence = 1`,
      ),
  ],
  'a record of the log that was removed with what it changed': [
    () => 'state: it was altered by another program',
    async (db, { id }) => {
      const [[first] = []] = await db.rows(`SELECT record FROM adaptation WHERE log_id = ${log(id)} AND sequence = 1`)
      await db.run(
        `DELETE FROM adaptation WHERE log_id = ${log(id)} AND sequence = 2`,
        `UPDATE persona_state SET sequence = 1, hash = '${JSON.parse(String(first)).hash}' WHERE persona_id = '${id}'`,
      )
    },
  ],
  'a state that was altered': [
    () => 'state: it was altered by another program',
    (db, { id }) =>
      db.run(`UPDATE persona_state SET learned = replace(learned, 'warmth', 'malice') WHERE persona_id = '${id}'`),
  ],
  'a log and state that were removed': [
    () => 'state: it was removed by another program',
    (db, { id }) =>
      db.run(...['adaptation_log', 'persona_state'].map((table) => `DELETE FROM ${table} WHERE persona_id = '${id}'`)),
  ],
  'a persona whose prompt was altered': [
    () => 'persona: it was altered by another program',
    (db, { id }) => db.run(`UPDATE persona SET system_prompt = 'Be Eve.' WHERE id = '${id}'`),
  ],
  'a persona whose seal was removed': [
    () => 'persona: it was added by another program',
    (db, { id }) => db.run(`DELETE FROM persona_seal WHERE persona_id = '${id}'`),
  ],
}

/** Tests that changes of a database behind the program's back are seen; `open` is called within the tests. */
export function testSeals(
  test: (title: string, handler: () => Promise<void>) => void,
  open: () => Promise<Sealed>,
): void {
  let opened: Promise<{ readonly sealed: Sealed; readonly url: string }> | undefined

  async function place() {
    opened ??= (async () => {
      const sealed = await open()
      const identify = () => ({ caller: { id: 'u1', username: 'u1', role: 'user' as const } })
      return { sealed, url: await sealed.installation.serve(identify) }
    })()
    return opened
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are tested
  async function ask(method: string, path: string, body?: unknown): Promise<any> {
    const { url } = await place()
    const response = await fetch(`${url}/api/personas${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response.json()
  }

  const outside = async () => (await place()).sealed.outside

  /** A persona with three memories and something learned. */
  async function newPersona(): Promise<Stored> {
    const { id } = await ask('POST', '', { name: 'Ada', model: 'gpt-x', system_prompt: 'Be Ada.' })
    const add = async (content: string) => (await ask('POST', `/${id}/memory`, { content })).id as string
    const memories = [await add('Drinks tea'), await add('Drinks coffee'), await add('Drinks cocoa')] as const
    for (const target of [1, -1])
      await ask('POST', `/${id}/state/adaptation`, {
        adaptation_type: 'tone',
        trigger_event: 'explicit_instruction',
        changes: [{ trait: 'warmth', target }],
      })
    return { id, memories }
  }

  async function problemsOf(id: string): Promise<string> {
    const { valid, problems, kind, sealed } = await ask('POST', `/${id}/verify`)
    assert.equal([valid, kind, sealed], problems.length === 0 ? [true, null, true] : [false, 'damaged', true])
    return problems.join('\n')
  }

  for (const [title, [said, deed]] of Object.entries(edits))
    test(`names ${title} in the database, also after more was stored`, async () => {
      const stored = await newPersona()
      // Numbers are not reused.
      await newPersona()
      assert.is(await problemsOf(stored.id), '')
      await deed(await outside(), stored)
      assert.ok((await problemsOf(stored.id)).includes(said(stored)), await problemsOf(stored.id))
      // Neither a new memory nor the old one stored again makes it look intact.
      for (const content of ['Drinks tea', 'Drinks coffee', 'Drinks water'])
        await ask('POST', `/${stored.id}/memory`, { content, metadata: { pinned: true } }).catch(() => undefined)
      assert.is.not(await problemsOf(stored.id), '')
    })

  test('a memory that was removed, and an older one put back in its place, is seen', async () => {
    const { id, memories } = await newPersona()
    const db = await outside()
    const tables = ['memory', 'memory_seal']
    await db.run(
      ...tables.map((table) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE id = '${memories[0]}'`),
    )
    await ask('DELETE', `/${id}/memory?before=${Date.now() + 1000}`)
    const { id: last } = await ask('POST', `/${id}/memory`, { content: 'Drinks water' })
    assert.is(await problemsOf(id), '')
    await db.run(
      ...tables.map((table) => `DELETE FROM ${table} WHERE id = '${last}'`),
      ...tables.map((table) => `INSERT INTO ${table} SELECT * FROM kept_${table}`),
    )
    assert.match(await problemsOf(id), /memories: another program put others in the place of some$/)
  })

  test('what is put in the place of a persona that was altered is sound again', async () => {
    for (const edit of ["UPDATE persona SET name = 'Eve' WHERE id", 'DELETE FROM persona_seal WHERE persona_id']) {
      const { id } = await newPersona()
      await ask('POST', `/${id}/backup`)
      await (await outside()).run(`${edit} = '${id}'`)
      assert.is.not(await problemsOf(id), '')
      await ask('PUT', `/${id}`, { name: 'Ada', model: 'gpt-x' })
      assert.is.not(await problemsOf(id), '', 'a change of our own hides nothing')
      await ask('POST', `/${id}/restore`, {})
      assert.is(await problemsOf(id), '')
    }
  })

  test('a restored backup is sound again, and says since when it would show', async () => {
    const { id, memories } = await newPersona()
    await ask('POST', `/${id}/backup`)
    await (await outside()).run(`UPDATE memory SET content = 'Drinks gin' WHERE id = '${memories[0]}'`)
    await ask('POST', `/${id}/restore`, {})
    const { valid, problems, sealed_since } = await ask('POST', `/${id}/verify`)
    assert.equal([valid, problems], [true, []])
    assert.ok(sealed_since > 0 && sealed_since <= Date.now())
  })
}
