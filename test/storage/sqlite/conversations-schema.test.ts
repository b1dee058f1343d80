import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readSearch } from '../../../src/personas/chat/search-words.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the schema of conversations')

test('conversations from before the search are found, and leave no words behind when they are removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-conversations-'))
  try {
    const before = await openStorageIn(folder)
    await before.conversations.create({ id: 'c', user_id: 'ada', name: 'c', created_at: 1 })
    const message = { role: 'user' as const, content: 'the hippopotamus' }
    await before.conversations.append('ada', 'c', [{ message, timestamp: 2 }])
    await before.close()
    const old = await openDatabase(join(folder, 'aichat.db'))
    old.exec(`
      DROP TRIGGER conversation_text_removed;
      DROP TABLE conversation_text;
      DROP TABLE conversation_reader;
      DROP INDEX conversation_message_text;
      DROP INDEX conversation_kept;
      ALTER TABLE conversation_message DROP COLUMN text_id;
      ALTER TABLE conversation DROP COLUMN kept;
      DELETE FROM migration WHERE name = 'conversations-5';
    `)
    old.close()
    const { conversations, close } = await openStorageIn(folder)
    try {
      const search = { groups: readSearch('hippo*'), limit: 9, offset: 0 }
      assert.equal(
        (await conversations.search('ada', search)).map(({ saved }) => saved),
        [{ message, timestamp: 2 }],
      )
      await conversations.remove('ada', 'c')
      const db = await openDatabase(join(folder, 'aichat.db'))
      const words = db.prepare('SELECT quote(block) FROM conversation_text_data').pluck().all().join('')
      db.close()
      assert.not.match(words, Buffer.from('hippopotamus').toString('hex').toUpperCase())
    } finally {
      await close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
