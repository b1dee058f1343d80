import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import '../../helpers/cheap-bcrypt.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat db')
const home = openFastHome()
test.after(() => home.remove())

const db = (words: string) => home.aichat(['db', ...words.split(' ')])

test('a server is refused, and so is a folder without a database', async () => {
  assert.is((await db('check --server http://127.0.0.1:1')).code, 64)
  assert.is((await db('check')).code, 67)
})

test('a folder is checked, and what another program changed is told', async () => {
  await makeRichFolder(home.folder, 20)
  const whole = await db('check')
  assert.is(whole.code, 0, whole.stdout)
  assert.match(whole.stdout, /^whole .*\n +3 personas verified\n/)
  const file = await openDatabase(join(home.folder, 'aichat.db'))
  file.exec(`UPDATE memory SET content = 'changed' WHERE memory_id = (SELECT min(memory_id) FROM memory)`)
  file.close()
  const changed = await db('check')
  assert.is(changed.code, 1)
  assert.match(changed.stdout, /altered by another program/)
})

test.run()
