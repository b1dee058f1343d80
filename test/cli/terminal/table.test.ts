// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { openHome } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a table')

test('counts its columns as a terminal shows them: emoji, wide scripts, combining marks', async () => {
  using home = openHome()
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
})

test.whole('without rows says so on stderr and names the next step; JSON and plain rows stay alone', async () => {
  using home = openHome()
  const environment = { AICHAT_HOME: home.folder, HOME: home.folder, OLLAMA_HOST: '127.0.0.1:9' }
  const run = (...words: readonly string[]) => runMain(words, { environment })
  await run('persona', 'create', '--name', 'Ada', '-m', 'x')
  const lists: readonly (readonly [words: readonly string[], remark: string])[] = [
    [['session', 'list'], 'aichat: no conversations yet; start one: aichat chat'],
    [['users', 'list'], 'aichat: no users yet; create the administrator: aichat setup'],
    [['secret', 'list'], 'aichat: no keys are set; store one: aichat secret set OPENAI_API_KEY'],
    [['models', 'list', '--installed'], 'aichat: no models on this machine; pull one: aichat models pull NAME'],
    [['plugin', 'list', '--active'], 'aichat: no plugin is active; activate one: aichat plugin activate ID'],
    [['plugin', 'current'], 'aichat: no plugin of type chat is active'],
    [['persona', 'memory', 'list', 'Ada'], 'aichat: no memories yet; add one: aichat persona memory add Ada TEXT'],
    [['persona', 'memory', 'search', 'Ada', 'cat'], 'aichat: no memory matches'],
    [['persona', 'backup', 'Ada', '--list'], 'aichat: no backups yet; make one: aichat persona backup Ada'],
    [['persona', 'state', 'Ada', '--log'], 'aichat: no adaptation records yet'],
  ]
  for (const [words, remark] of lists) {
    const shown = await run(...words)
    assert.equal([shown.code, shown.stdout.trim(), shown.stderr], [0, '', `${remark}\n`], words.join(' '))
    for (const option of ['--json', '--plain', '--quiet'])
      assert.is((await run(...words, option)).stderr, '', `${words.join(' ')} ${option}`)
  }
  await run('persona', 'remove', 'Ada', '--yes')
  const none = await run('persona', 'list')
  assert.equal([none.stdout, none.stderr], ['', 'aichat: no personas yet; create one: aichat persona create NAME\n'])
  assert.equal(JSON.parse((await run('persona', 'list', '--json')).stdout), { personas: [] })
})

test.run()
