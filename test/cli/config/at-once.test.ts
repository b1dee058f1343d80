// Some with --all only: many processes.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type Home, openHome } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('commands that change a small file at the same moment')

/** The processes that change each file. */
const numbers = Array.from({ length: isWholeRun ? 4 : 2 }, (_, index) => index + 1)

interface Change {
  readonly name: string
  readonly words: (number: number) => readonly string[]
  readonly input?: string
  /** What the file holds afterwards. */
  readonly file: string
  readonly count: (content: Record<string, object>) => number
}

const settings = [
  ['api.port', '3111'],
  ['api.console', 'false'],
  ['usage.keep_days', '50'],
  ['chat.history', 'off'],
  ['chat.keep', 'on'],
  ['responses.keep_days', '9'],
]

const changes: readonly Change[] = [
  {
    name: 'settings',
    words: (number) => ['config', 'set', ...settings[number - 1]!],
    file: 'config.json',
    count: (content) => Object.keys(content).length,
  },
  {
    name: 'keys in a file',
    words: (number) => ['secret', 'set', `K${number}_API_KEY`, '--insecure-storage'],
    input: 'value\n',
    file: 'secrets.json',
    count: (content) => Object.keys(content).length,
  },
  {
    name: 'tool servers',
    words: (number) => ['mcp', 'add', `s${number}`, '--', 'true'],
    file: 'mcp.json',
    count: ({ servers }) => Object.keys(servers!).length,
  },
]

for (const { name, words, input, file, count } of isWholeRun ? changes : changes.slice(0, 1))
  test(`lose none of each other's ${name}`, async () => {
    using home = openHome()
    const ended = await Promise.all(
      numbers.map((number) => home.aichat(words(number), input === undefined ? {} : { input })),
    )
    for (const { code, stderr } of ended) assert.is(code, 0, stderr)
    assert.is(count(JSON.parse(readFileSync(join(home.folder, file), 'utf8'))), numbers.length)
    assert.equal(locks(home), [])
  })

test('are not held up by the lock of one that was killed', async () => {
  using home = openFastHome()
  const lock = join(home.folder, '.config.json.lock')
  const { pid } = spawnSync(process.execPath, ['--version'])
  const old = new Date(Date.now() - 60_000)
  const left = [
    { pid, host: hostname() },
    { pid: process.pid, host: 'another-machine' },
  ]
  for (const [index, mark] of left.entries()) {
    writeFileSync(lock, JSON.stringify(mark))
    if (index === 1) utimesSync(lock, old, old)
    assert.is((await home.aichat(['config', 'set', 'api.port', `300${index}`])).code, 0)
    assert.equal(JSON.parse(readFileSync(join(home.folder, 'config.json'), 'utf8')), { 'api.port': `300${index}` })
    assert.equal(locks(home), [])
  }
})

function locks({ folder }: Home): readonly string[] {
  return readdirSync(folder).filter((name) => name.includes('.lock'))
}

test.run()
