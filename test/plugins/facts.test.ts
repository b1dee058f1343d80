import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { createFactBook } from '../../src/plugins/facts.ts'
import { factsOfRow } from '../../src/plugins/listed-facts.ts'
import type { ModelFacts } from '../../src/plugins/model-facts.ts'
import { testData } from '../helpers/data.ts'
import { fixture } from '../helpers/fixture.ts'
import { suite } from '../helpers/suite.ts'
import { bundled, factsText, lists, makeShippedFacts, shippedPath } from './ship-facts.ts'

const test = suite('facts of models')

const shipped = () => JSON.parse(readFileSync(shippedPath, 'utf8'))

const recorded = testData('cassettes') ? test : test.skip

recorded('the shipped table is what its generator makes of the recorded lists, in less than 100 kB', async () => {
  const text = readFileSync(shippedPath, 'utf8')
  assert.ok(text === factsText(await makeShippedFacts(process.env['AICHAT_TEST_DATA']!)), 'run: npm run model-facts')
  assert.ok(text.length < 100_000)
})

test('at least 95 of 100 shipped models have a known window', () => {
  const book = createFactBook({ shipped, clock: Date.now })
  const windows = Object.keys(lists).flatMap((id) => {
    const manifest = bundled(id)
    return manifest.model_map.map((model) => book.of(manifest, model).context_window)
  })
  assert.ok(windows.length >= 509)
  const known = windows.filter((window) => window !== undefined)
  assert.ok(known.length / windows.length >= 0.95, `${known.length} of ${windows.length}`)
})

test('the operator states before the provider, this before the shipped table, and a refusal of the day before all', () => {
  let now = Date.UTC(2026, 10, 24, 12)
  const openai = bundled('openai')
  const book = createFactBook({ shipped, clock: () => now })
  const window = (plugin: Parameters<typeof book.of>[0]) => [
    book.of(plugin, 'gpt-4o').context_window,
    book.windowSource(plugin, 'gpt-4o'),
  ]
  const listed = { ...openai, listed: { 'gpt-4o': { context_window: 2_000, images: false } } }
  const own = { ...listed, models: { 'gpt-4o': { context_window: 3_000 } } }
  assert.equal([openai, listed, own].map(window), [
    [128_000, 'shipped'],
    [2_000, 'list'],
    [3_000, 'plugin'],
  ])
  assert.equal([book.of(openai, 'gpt-4o').images, book.of(own, 'gpt-4o').images], [true, false])
  book.learn('openai', 'gpt-4o', 1_000)
  assert.equal(window(own), [1_000, 'refusal'])
  now += 86_400_000
  assert.equal(window(own), [3_000, 'plugin'])
})

test('a learned window holds after a restart on that day, beside those of another process, and damaged ones are none', () => {
  let now = Date.UTC(2026, 10, 24, 12)
  let text: string | undefined
  const learned = {
    read: () => text,
    write(next: string) {
      text = next
    },
  }
  const open = () => createFactBook({ shipped, clock: () => now, learned })
  const [first, second] = [open(), open()]
  assert.is(first.learned('a', 'm'), undefined)
  assert.is(second.learned('a', 'm'), undefined)
  first.learn('a', 'm', 1_000)
  second.learn('b', '__proto__', 2_000)
  assert.equal([open().learned('a', 'm'), open().learned('b', '__proto__')], [1_000, 2_000])
  for (const damaged of ['', '[', '{"day":1}', text!.replace('1000', '-5'), text!.replace('1000', '"x"')]) {
    text = damaged
    assert.is(open().learned('a', 'm'), undefined, damaged)
  }
  first.learn('a', 'm', 1_000)
  now += 86_400_000
  assert.is(open().learned('a', 'm'), undefined)
})

test('what nobody states stays unknown, and nonsense in a document is not a fact', () => {
  const book = createFactBook({ shipped, clock: Date.now })
  const custom = { id: 'custom', endpoint: 'https://chat.example/v1', models: {} }
  for (const model of ['gpt-4o', '__proto__', 'constructor', '*', 'x'.repeat(5_000)])
    assert.equal(book.of(custom, model), {})
  const models = {
    big: { context_window: 1e12, max_output: 0, images: 'yes', retired: 'soon', display_name: 5, tools: true },
  }
  assert.equal(book.of({ ...custom, models }, 'big'), { tools: true })
  // A model that no list has yet goes by a pattern of the shipped table.
  assert.is(book.of(bundled('openai'), 'gpt-5-nano-2027-01-01').context_window, 400_000)
  assert.equal(book.of(bundled('openai'), 'nobody-knows'), {})
})

const rows =
  fixture<readonly (readonly [what: string, row: Record<string, unknown>, facts: ModelFacts])[]>('model-rows.json')

for (const [what, row, facts] of rows)
  test(`a row of ${what} states what it says and nothing else`, () => assert.equal(factsOfRow(row), facts))

test.run()
