// Some with --all only: many processes.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { encryptFile } from '../../../src/formats/age-file.ts'
import { readCardPng } from '../../../src/personas/card/card.ts'
import type { Home } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat persona, as a whole')

async function withHome(use: (home: Home, id: string) => Promise<void>): Promise<void> {
  using home = openFastHome()
  const { stdout, stderr } = await home.aichat([
    'persona',
    'create',
    '--name',
    'Ada',
    '--model',
    'gpt-x',
    '--prompt',
    'Be Ada.',
  ])
  assert.is(stderr, '')
  await use(home, stdout.trim())
}

const adapt = [
  '--type',
  'weight_adjusted',
  '--trigger',
  'explicit_instruction',
  '--changes',
  '[{"trait":"verbosity","target":-1}]',
]

test('adapts, shows the state and the log, says it to the model, and undoes', () =>
  withHome(async (home, id) => {
    const adapted = await home.aichat(['persona', 'adapt', id, ...adapt])
    assert.is(adapted.code, 0, adapted.stderr)
    const [record = ''] = adapted.stdout.split('\n')
    assert.match(adapted.stdout, /\/behavioral_weights\/verbosity: null → -0\.1 {2}explicit_instruction/)
    assert.match((await home.aichat(['persona', 'state', id])).stdout, /verbosity: -0\.100 \(set\)/)
    const log = await home.aichat(['persona', 'state', id, '--log'])
    assert.ok(log.stdout.includes(record))
    const shown = await home.aichat(['chat', '-m', 'openai:gpt-x', '-p', id, '--dry-run', 'Hello'])
    assert.match(shown.stdout, /prefers slightly: shorter answers \(-0\.10\)/)
    const undone = await home.aichat(['persona', 'undo', id, record])
    assert.is(undone.code, 0)
    assert.match(undone.stderr, /to redo it: aichat persona undo/)
    assert.equal(JSON.parse((await home.aichat(['persona', 'state', id, '--json'])).stdout).behavioral_weights, {})
    assert.is((await home.aichat(['persona', 'undo', id, 'nothing'])).code, 67)
    assert.is(
      (await home.aichat(['persona', 'adapt', id, ...adapt.slice(0, 5), '[{"trait":"x","target":7}]'])).code,
      65,
    )
    assert.is((await home.aichat(['persona', 'adapt', id, ...adapt.slice(0, 5), 'no json'])).code, 65)
    assert.is((await home.aichat(['persona', 'adapt', id])).code, 64)
    const piped = await home.aichat(['persona', 'adapt', id, ...adapt.slice(0, 5), '-'], {
      input: '[{"trait":"warmth","target":1}]',
    })
    assert.match(piped.stdout, /warmth/)
    // 0.1 for each record and 0.2 for each day, at medium sensitivity; midnight may fall between two of four records.
    const notes: string[] = []
    for (let at = 0; at < 4; at++) notes.push((await home.aichat(['persona', 'adapt', id, ...adapt])).stderr)
    assert.is(notes[0], '')
    assert.match(notes.join(''), /^aichat: verbosity is not moved: the 0\.2 that it may move in a day \(UTC\)/)
  }))

test('exports, verifies without the database, and imports into an empty installation', () =>
  withHome(async (home, id) => {
    await home.aichat(['persona', 'memory', 'add', id, 'She lives in 柏林'])
    await home.aichat(['persona', 'adapt', id, ...adapt])
    const away = openFastHome()
    const file = join(home.folder, 'ada.dna')
    for (const format of ['json', 'container']) {
      const out = await home.aichat(['persona', 'export', id, '-o', file, '--format', format, '--force'])
      assert.equal([out.code, out.stdout, out.stderr], [0, '', ''])
      const checked = await away.aichat(['persona', 'verify', file])
      assert.is(checked.code, 0, checked.stdout)
      assert.match(checked.stdout, /^valid {3}.*1 memory, 1 adaptation\n/)
      assert.equal(
        readdirSync(away.folder).filter((name) => name === 'data'),
        [],
      )
      const piped = await away.aichat(['persona', 'verify', '-', '--json'], { input: readFileSync(file) })
      assert.is(JSON.parse(piped.stdout).valid, true)
    }
    const hash = async (at: Home, which: string) =>
      JSON.parse((await at.aichat(['persona', 'verify', which, '--json'])).stdout).content_hash
    const plan = await away.aichat(['persona', 'import', file, '--dry-run'])
    assert.equal([plan.code, plan.stdout], [0, ''])
    assert.match(plan.stderr, /1 memory and 1 adaptation would be imported/)
    const taken = await away.aichat(['persona', 'import', file])
    assert.is(taken.code, 0, taken.stderr)
    assert.is(await hash(away, taken.stdout.trim()), await hash(away, file))
    const again = await away.aichat(['persona', 'import', '-', '--mode', 'merge', '--into', 'Ada'], {
      input: readFileSync(file),
    })
    assert.match(again.stderr, /0 memories.*1 already existed/)
    const refused = await home.aichat(['persona', 'export', id, '-o', file])
    assert.is(refused.code, 73)
    assert.is((await home.aichat(['persona', 'export', id, '--format', 'yaml'])).code, 64)
    const json = await home.aichat(['persona', 'export', id])
    assert.is(JSON.parse(json.stdout).persona.name, 'Ada')
    away.remove()
  }))

test('tells a changed package, an absent one, a folder, and an unknown persona apart', () =>
  withHome(async (home, id) => {
    const file = join(home.folder, 'ada.json')
    await home.aichat(['persona', 'export', id, '-o', file])
    writeFileSync(file, readFileSync(file, 'utf8').replace('"name":"Ada"', '"name":"Eve"'))
    const changed = await home.aichat(['persona', 'verify', file])
    assert.is(changed.code, 65)
    assert.match(changed.stdout, /^invalid .*\n {2}.*checksum.*\n {2}persona was changed/)
    const { code, stdout, stderr } = await home.aichat(['persona', 'import', file])
    assert.equal([code, stdout], [65, ''])
    assert.match(stderr, /nothing was imported\n.*\n {2}persona was changed/)
    assert.is((await home.aichat(['persona', 'verify', join(home.folder, 'absent.json')])).code, 66)
    assert.is((await home.aichat(['persona', 'import', 'absent.json'])).code, 66)
    assert.is((await home.aichat(['persona', 'verify', home.folder])).code, 66)
    assert.match((await home.aichat(['persona', 'import', home.folder])).stderr, /Cannot read .*: it is a folder\n/)
    assert.is((await home.aichat(['persona', 'verify', 'nobody'])).code, 67)
    assert.is((await home.aichat(['persona', 'verify', '-'], { input: '' })).code, 65)
    assert.is((await home.aichat(['persona', 'verify', id])).code, 0)
    assert.equal(
      readdirSync(home.folder).filter((name) => name.startsWith('.aichat')),
      [],
    )
  }))

test.whole('seals a package with a piped passphrase and opens it again', () =>
  withHome(async (home, id) => {
    const file = join(home.folder, 'ada.age')
    const words = ['--passphrase-stdin']
    const sealed = await home.aichat(
      ['persona', 'export', id, '-o', file, '--format', 'container', '--encrypt', ...words],
      { input: 'correct horse\n' },
    )
    assert.is(sealed.code, 0, sealed.stderr)
    assert.is(readFileSync(file, 'latin1').slice(0, 21), 'age-encryption.org/v1')
    assert.is(statSync(file).mode & 0o777, 0o600)
    assert.is((await home.aichat(['persona', 'verify', file, ...words], { input: 'correct horse\n' })).code, 0)
    // The file sets the cost of opening it: half a second for ours, nothing for this one.
    const light = join(home.folder, 'light.age')
    const plain = join(home.folder, 'ada.zip')
    assert.is((await home.aichat(['persona', 'export', id, '-o', plain, '--format', 'container'])).code, 0)
    await encryptFile(plain, light, 'correct horse', 8)
    const wrong = await home.aichat(['persona', 'verify', light, ...words, '--json'], { input: 'wrong horse\n' })
    assert.equal([wrong.code, JSON.parse(wrong.stdout).kind], [65, 'not_authenticated'])
    const without = await home.aichat(['persona', 'verify', light])
    assert.is(without.code, 65)
    assert.match(without.stdout, /its passphrase is needed/)
    assert.is((await home.aichat(['persona', 'import', light, ...words], { input: 'correct horse\n' })).code, 0)
    assert.is((await home.aichat(['persona', 'import', light])).code, 65)
    assert.is((await home.aichat(['persona', 'export', id, '--encrypt', ...words], { input: 'short\n' })).code, 65)
    assert.equal(readdirSync(join(home.folder, 'packages')), [])
  }),
)

test('backs up, lists, and restores', () =>
  withHome(async (home, id) => {
    assert.is((await home.aichat(['persona', 'restore', id])).code, 67)
    const made = await home.aichat(['persona', 'backup', id])
    assert.is(made.code, 0)
    await home.aichat(['persona', 'memory', 'add', id, 'Something'])
    const restored = await home.aichat(['persona', 'restore', id, made.stdout.trim()])
    assert.is(restored.code, 0, restored.stderr)
    assert.match(restored.stderr, /to undo this: aichat persona restore/)
    const list = await home.aichat(['persona', 'backup', id, '--list', '--plain'])
    assert.is(list.stdout.trim().split('\n').length, 2)
    assert.is(JSON.parse((await home.aichat(['persona', 'memory', 'list', id, '--json'])).stdout).total, 0)
  }))

test('makes a persona of a character card, and a card with a picture of a persona', () =>
  withHome(async (home, id) => {
    const file = join(home.folder, 'eve.json')
    writeFileSync(
      file,
      JSON.stringify({ spec: 'chara_card_v2', data: { name: 'Eve', description: 'A spy.', extensions: { x: 1 } } }),
    )
    const without = await home.aichat(['persona', 'import', file])
    assert.is(without.code, 65)
    assert.match(without.stderr, /--model/)
    const taken = await home.aichat(['persona', 'import', file, '--model', 'gpt-x'])
    assert.is(taken.code, 0, taken.stderr)
    const picture = join(home.folder, 'eve.png')
    assert.is(
      (await home.aichat(['persona', 'export', taken.stdout.trim(), '--format', 'card', '-o', picture])).code,
      0,
    )
    assert.is(readCardPng(readFileSync(picture)).data['description'], 'A spy.')
    const card = await home.aichat(['persona', 'export', id, '--format', 'card'])
    assert.is(JSON.parse(card.stdout).data.name, 'Ada')
    const checked = await home.aichat(['persona', 'verify', picture])
    assert.is(checked.code, 65)
    assert.match(checked.stdout, /has no checksum/)
  }))

test('packages, cards and lines of memories may begin with a byte order mark, and times of lines may be texts', () =>
  withHome(async (home) => {
    const mark = '\ufeff'
    const file = join(home.folder, 'ada.json')
    await home.aichat(['persona', 'export', 'Ada', '-o', file])
    const marked = join(home.folder, 'marked.json')
    writeFileSync(marked, mark + readFileSync(file, 'utf8').replaceAll('\n', '\r\n'))
    assert.match((await home.aichat(['persona', 'verify', marked])).stdout, /^valid /)
    assert.is((await home.aichat(['persona', 'import', marked])).code, 0)
    const card = { spec: 'chara_card_v2', spec_version: '2.0', data: { name: 'Bob', description: 'A cook.' } }
    writeFileSync(marked, mark + JSON.stringify(card))
    const brought = await home.aichat(['persona', 'import', marked, '--model', 'gpt-x'])
    assert.is(brought.code, 0, brought.stderr)
    const lines = [
      { content: 'of seconds', timestamp: '2024-05-08T17:30:15+02:00' },
      { content: 'of a day', timestamp: '2024-05-07' },
      { content: 'of no zone', timestamp: '2024-05-06 17:30' },
    ]
    writeFileSync(marked, mark + lines.map((line) => JSON.stringify(line)).join('\r\n'))
    const added = await home.aichat(['persona', 'import', marked, '--into', 'Bob'])
    assert.is(added.code, 0, added.stderr)
    const { memories } = JSON.parse((await home.aichat(['persona', 'memory', 'list', 'Bob', '--json'])).stdout)
    assert.equal(
      memories.map(({ timestamp }: { timestamp: number }) => new Date(timestamp).toISOString()),
      ['2024-05-08T15:30:15.000Z', '2024-05-07T00:00:00.000Z', '2024-05-06T17:30:00.000Z'],
    )
    writeFileSync(marked, JSON.stringify({ content: 'never', timestamp: '2024-02-30' }))
    assert.match(
      (await home.aichat(['persona', 'import', marked, '--into', 'Bob'])).stderr,
      /line 1: timestamp: must be/,
    )
  }))

test('a file that is no package is named by its format, and nothing is called damaged', () =>
  withHome(async (home) => {
    const file = join(home.folder, 'notes')
    for (const [content, format] of [
      ['Buy milk', 'a text file'],
      ['{"a":1}', 'a JSON document without export_metadata'],
    ] as const) {
      writeFileSync(file, content)
      const imported = await home.aichat(['persona', 'import', file])
      assert.equal(
        [imported.code, imported.stderr],
        [65, `aichat: Invalid persona package: it is ${format}; nothing was imported\n`],
      )
      const verified = await home.aichat(['persona', 'verify', file])
      assert.equal(
        [verified.code, verified.stdout],
        [65, `invalid ${file}\n  Invalid persona package: it is ${format}\n`],
      )
    }
  }))

test.run()
