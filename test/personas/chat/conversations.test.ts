import * as assert from 'uvu/assert'
import { createConversations } from '../../../src/personas/chat/conversations.ts'
import { summaryOf } from '../../../src/personas/chat/summary.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('saved conversations')

test('one without a message for an hour has ended, which a list tells, twenty at a time', async () => {
  const folder = temporaryFolder()
  const { conversations: store, close } = await openStorage(storageIn(folder))
  try {
    let now = Date.UTC(2026, 4, 14, 12)
    const conversations = createConversations({
      store,
      personas: { get: () => Promise.reject(new Error('none')) },
      forget: async () => {},
      greeting: async () => '',
      summary: (messages) => summaryOf(messages, (text) => text),
      onEnd: async () => {},
      mostKept: 10,
      clock: () => now,
    })
    for (let at = 0; at < 25; at++) {
      await store.create({ id: `c${at}`, user_id: 'ada', name: `c${at}`, created_at: now })
      await conversations.add((await store.find(`c${at}`))!, [
        { message: { role: 'user', content: `The garden ${at}` } },
      ])
    }
    const summaries = async () =>
      (await conversations.list('ada', 100, 0)).conversations.flatMap(({ summary }) => summary ?? [])
    now += 3_600_000
    assert.is((await summaries()).length, 0)
    now += 1
    assert.is((await summaries()).length, 20)
    assert.equal([...new Set(await summaries())], ['2026-05-14, 1 turn: garden'])
    assert.is((await summaries()).length, 25)
  } finally {
    await close()
  }
})

test.run()
