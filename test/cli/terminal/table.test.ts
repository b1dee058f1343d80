import * as assert from 'uvu/assert'
import { openHome } from '../../command.ts'
import { suite } from '../../suite.ts'
import { runMain } from '../../terminal.ts'

const test = suite('a table')

test('counts its columns as a terminal shows them: emoji, wide scripts, combining marks', async () => {
  const home = openHome()
  try {
    const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
    // The columns that each name takes on a terminal.
    const names = { Ada: 3, '🙂🙂': 4, '👩‍👩‍👧': 2, 'Zoe\u0308': 3, 你好: 4, ｱｲ: 2 }
    for (const name of Object.keys(names))
      assert.is((await runMain(['persona', 'create', '--name', name, '--model', 'm-1'], { environment })).code, 0)
    const { stdout } = await runMain(['persona', 'list'], { environment })
    const [headings = '', ...rows] = stdout.trimEnd().split('\n')
    const start = headings.indexOf('NAME')
    const end = headings.indexOf('MODEL')
    for (const [name, columns] of Object.entries(names)) {
      const row = rows.find((line) => line.slice(start).startsWith(name))!
      assert.ok(row, name)
      assert.match(row.slice(start + name.length), new RegExp(`^ {${end - start - columns}}m-1`), name)
    }
  } finally {
    home.remove()
  }
})

test.run()
