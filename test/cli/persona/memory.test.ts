// Some with --all only: many processes.
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import type { Answered } from '../../helpers/program/daemon.ts'
import { converseHere, openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat persona memory')
test('a memory is shown, edited, pinned, unpinned and removed by the beginning of its id', () =>
  withPersona(async ({ memory, json, add }) => {
    const id = await add('My cat is afraid of thunder', '--category', 'pets', '--speaker', 'Grace')
    const short = id.slice(0, 8)
    const shown = await memory('show', 'Ada', short)
    assert.match(shown.stdout, new RegExp(`id +${id}\n`))
    assert.match(shown.stdout, /category +pets\nspeaker +Grace\n[\s\S]*\n\nMy cat is afraid of thunder\n$/)
    const edited = await memory('edit', 'Ada', short, '--content', 'My cat fears nothing', '--speaker', '')
    assert.equal([edited.code, edited.stdout], [0, `${id}\n`])
    await memory('edit', 'Ada', short, '--importance', '0.9', '--timestamp', '2024-05-08', '--valid-to', '2024-05-09')
    const after = await json('show', 'Ada', id)
    assert.equal(
      [after.content, after.importance_score, after.timestamp, after.metadata],
      ['My cat fears nothing', 0.9, Date.UTC(2024, 4, 8), { category: 'pets', valid_to: Date.UTC(2024, 4, 9) }],
    )
    assert.is((await memory('edit', 'Ada', short, '--valid-to', '', '--content', '-')).code, 65, 'stdin is empty')
    assert.is((await memory('pin', 'Ada', short)).stdout, `${id}\n`)
    assert.is((await json('list', 'Ada', '--pinned')).total, 1)
    await memory('unpin', 'Ada', short)
    assert.is((await json('list', 'Ada', '--pinned')).total, 0)
    const refused = await memory('remove', 'Ada', short)
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, /--yes/)
    assert.equal((await memory('remove', 'Ada', short, '--yes')).stdout, `${id}\n`)
    assert.is((await memory('show', 'Ada', short)).code, 67)
  }))

test('the beginning of an id that several memories have is refused, and names them', () =>
  withPersona(async ({ memory, add }) => {
    // Of seventeen ids in hexadecimal two begin alike.
    const ids: string[] = []
    for (let at = 0; at < 17; at++) ids.push(await add(`number ${at}`))
    const first = ids.map((id) => id[0]!).find((letter, at, all) => all.indexOf(letter) !== at)!
    const refused = await memory('remove', 'Ada', first, '--yes')
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, new RegExp(`memories have an id that begins with "${first}"[\\s\\S]*number`))
    for (const wrong of ['', ' ', '%', 'zzz'])
      assert.ok([64, 67].includes((await memory('show', 'Ada', wrong)).code!), wrong)
  }))

test.whole('list and search take conditions, with times as days, moments and times ago', () =>
  withPersona(async ({ memory, json, add }) => {
    await add('tea in spring', '--timestamp', '2024-04-01', '--category', 'drinks', '--speaker', 'Grace', '--pin')
    await add('tea in May', '--timestamp', '2024-05-08T17:30', '--conversation', 'c1')
    await add('tea today')
    const found = async (...filter: string[]) => {
      const listed = (await json('list', 'Ada', ...filter)).memories
      const searched = (await json('search', 'Ada', 'tea', ...filter)).results
      const contents = (all: { content: string }[]) => all.map(({ content }) => content.split(' ').at(-1)).sort()
      assert.equal(contents(listed), contents(searched))
      return contents(listed).join(' ')
    }
    assert.is(await found('--category', 'drinks'), 'spring')
    assert.is(await found('--speaker', ''), 'May today')
    assert.is(await found('--conversation', 'c1'), 'May')
    assert.is(await found('--after', '2024-05-01', '--before', '2024-06-01'), 'May')
    assert.is(await found('--after', '7d'), 'today')
    assert.is(await found('--before', '2w'), 'May spring')
    assert.is(await found('--pinned'), 'spring')
    for (const words of ['gestern', 'last week', 'hace dos meses', '先週', '2025', '7d'])
      assert.is(await found('--after', words), 'today', words)
    assert.is(await found('--before', 'last week'), 'May spring')
    assert.is(await found('--after', 'May 2024', '--before', 'June 2024'), 'May')
    for (const words of ['soon', '', '\u0301', '275761-01-01', '+275761-01-01', 'last week tea', 'x'.repeat(20_000)]) {
      const wrong = await memory('list', 'Ada', '--after', words)
      assert.equal([wrong.code, wrong.stdout], [64, ''], words)
      assert.match(wrong.stderr, /for --after: use a time such as 2024-05-08.*"last week"/)
    }
  }),
)

test('a time that no calendar of four digits holds is refused', () =>
  withPersona(async ({ memory }) => {
    for (const [time, code, reason] of [
      ['+275761-01-01', 64, /Use a time such as/],
      ['275761-01-01', 64, /Use a time such as/],
      ['8640000000000000', 65, /timestamp: must be a time from 1970 to the end of 9999/],
      ['1969-12-31', 65, /timestamp: must be a time from 1970/],
    ] as const) {
      const refused = await memory('add', 'Ada', 'tea', '--timestamp', time)
      assert.equal([refused.code, refused.stdout], [code, ''], time)
      assert.match(refused.stderr, reason)
    }
    const turned = await memory('add', 'Ada', 'tea', '--valid-from', '2024-05-08', '--valid-to', '2024-05-07')
    assert.is(turned.code, 65)
    assert.match(turned.stderr, /--valid-to: must not be before valid_from/)
  }))

test('without a text and without a terminal, edit says which option it needs', () =>
  withPersona(async ({ memory, add }) => {
    const refused = await memory('edit', 'Ada', await add('tea'))
    assert.equal([refused.code, refused.stdout], [64, ''])
    assert.match(refused.stderr, /--content/)
  }))

test.whole('at a terminal edit opens the editor with the text, and leaves no file behind', () =>
  withPersona(async ({ home, json, add }) => {
    const id = await add('My cat drinks tea')
    const edit = (editor: string) =>
      converseHere(home.folder, ['persona', 'memory', 'edit', 'Ada', id], [], { EDITOR: editor, TMPDIR: home.folder })
    const edited = await edit('sed -i s/tea/milk/')
    assert.equal([edited.code, edited.stdout], [0, `${id}\n`], edited.shown)
    assert.is((await json('show', 'Ada', id)).content, 'My cat drinks milk')
    const left = await edit('true')
    assert.equal([left.code, left.stdout], [1, ''])
    assert.match(left.shown, /Nothing was changed/)
    const emptied = await edit('truncate -s 0')
    assert.is(emptied.code, 65)
    assert.match(emptied.shown, /content: must not be empty/)
    assert.is((await edit('false')).code, 1)
    assert.is((await json('show', 'Ada', id)).content, 'My cat drinks milk')
    assert.equal(
      readdirSync(home.folder).filter((name) => name.startsWith('aichat-edit-')),
      [],
    )
  }),
)

interface WithPersona {
  readonly home: Home
  /** Runs `persona memory …`. */
  memory(...words: string[]): ReturnType<Home['aichat']>
  /** The same with --json. */
  json(...words: string[]): Promise<Answered['body']>
  /** Adds a memory and gives back its id. */
  add(text: string, ...options: string[]): Promise<string>
}

/** A home folder with the persona Ada. */
async function withPersona(work: (all: WithPersona) => Promise<void>): Promise<void> {
  using home = openFastHome()
  const memory = (...words: string[]) => home.aichat(['persona', 'memory', ...words])
  await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'm'])
  await work({
    home,
    memory,
    json: async (...words) => JSON.parse((await memory(...words, '--json')).stdout),
    add: async (text, ...options) => (await memory('add', 'Ada', text, ...options)).stdout.trim(),
  })
}

test.run()
