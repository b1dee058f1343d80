// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readSearch } from '../../../src/personas/chat/search-words.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { copyFromPostgres, copyToPostgres } from '../../helpers/storage/copies.ts'
import { dumpOf } from '../../helpers/storage/dump.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'
import { account, keepAll, makeScope, memory, newPrice, noon, vector } from '../../helpers/storage/samples.ts'
import { openStorageIn, storageIn } from '../../helpers/storage/test-storage.ts'

const { test, server, run } = postgresSuite('a data folder that is copied to PostgreSQL and back')

test('everything that a folder holds is there again after both ways, and searches find the same on either side', () =>
  withFolders(async (one, other) => {
    await makeRichFolder(one)
    const before = dumpOf(one)
    assert.equal(
      Object.keys(before).filter((name) => before[name]!.length === 0),
      [],
      'the folder has some of everything',
    )
    const [url, beside] = [await server().newDatabase(), mkdtempSync(join(tmpdir(), 'aichat-transfer-'))]
    const found = await searched(await openStorageIn(one))
    await copyToPostgres(one, url)
    assert.equal(await searched(await openStorage({ ...storageIn(beside), url })), found)
    rmSync(beside, { recursive: true, force: true })
    await copyFromPostgres(url, other)
    const after = dumpOf(other)
    for (const name of Object.keys(before)) assert.equal(after[name], before[name], name)
    assert.equal(Object.keys(after), Object.keys(before))
    assert.equal(await searched(await openStorageIn(other)), found)
  }))

test('both sides go on where the other one stopped: no number, key or revision comes twice', () =>
  withFolders(async (one, other) => {
    await makeRichFolder(one, 20)
    const url = await server().newDatabase()
    await copyToPostgres(one, url)
    const shared = await openStorage({ ...storageIn(one), url })
    const first = await written(shared, 'there')
    await shared.close()
    await copyFromPostgres(url, other)
    const back = await openStorageIn(other)
    const second = await written(back, 'back')
    // The third price was the last before, and a superseded one keeps its id.
    assert.equal([first, second], ['p4', 'p5'])
    assert.equal(await back.ledger.check(), [])
    await back.close()
  }))

run()

async function withFolders(work: (one: string, other: string) => Promise<void>): Promise<void> {
  const [one, other] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'aichat-transfer-'))) as [string, string]
  try {
    await work(one, other)
  } finally {
    for (const folder of [one, other]) rmSync(folder, { recursive: true, force: true })
  }
}

/** The results of some searches; closes the storage. */
async function searched({ memories, conversations, responses, plugins, packages, ...storage }: Storage) {
  const scope = { personaId: 'p', userId: 'ada' }
  const words = await memories.search(scope, { terms: ['tea', 'number', '7'], candidates: 20 })
  const near = await memories.search(scope, { terms: [], vector: vector(40), candidates: 20 })
  const told = await conversations.search('ada', { groups: readSearch('tea'), limit: 20, offset: 0 })
  const found = {
    words: idsOf(words),
    frequencies: words.frequencies,
    near: idsOf(near),
    told: told.map(({ conversation, number }) => `${conversation.id} ${number}`),
    item: await responses.items({ owner: 'ada' }, ['out_resp1'], noon - 1000, { bytes: 1e6 }),
    plugins: [...plugins.read().overlays, ...plugins.read().hidden, ...plugins.read().active],
    backup: plugins.backup('two'),
    greeting: await packages.greeting(scope),
  }
  await storage.close()
  return found
}

function idsOf({ candidates }: Awaited<ReturnType<Storage['memories']['search']>>) {
  // They are ranked afterwards.
  return candidates.map(({ entry }) => entry.id).sort()
}

/** Writes a row of each kind with running numbers; resolves with the id of the price. */
async function written(storage: Storage, name: string): Promise<string> {
  await storage.accounts.insert(account(name), false)
  const scope = await makeScope(storage, `persona ${name}`, 'ada')
  await storage.memories.add(scope, [{ ...memory(`tea ${name}`), vector: vector(1) }], keepAll)
  await storage.memories.add({ personaId: 'p', userId: 'ada' }, [memory(`tea ${name}`)], keepAll)
  const message = { message: { role: 'user', content: name }, timestamp: noon } as const
  await storage.conversations.append('ada', 'c1', [message])
  await storage.limits.set(`user:${name}`, { rpm: 1 })
  const { ids } = await storage.prices.write({ set: [newPrice(name, 1)], end: [] }, noon)
  return ids[0]!
}
