import * as assert from 'uvu/assert'
import { LoreIndex, loreOf, loreText } from '../../../src/personas/memory/lore.ts'
import { suite } from '../../helpers/suite.ts'

const lore = suite('lore')

/** The ids of the entries that messages call for, of entries by id. */
function called(
  entries: Readonly<Record<string, Record<string, unknown>>>,
  messages: readonly string[],
  characters = 1000,
): readonly string[] {
  const index = new LoreIndex()
  for (const [id, metadata] of Object.entries(entries)) {
    const found = loreOf(metadata)
    const length = typeof metadata['length'] === 'number' ? metadata['length'] : 10
    if (found) index.add({ id, lore: found, length })
  }
  return index.match(messages, characters).map(({ id }) => id)
}

lore('comes when one of its keys stands in the last messages as a whole word, in any case', () => {
  const entries = { engine: { keys: ['Difference  Engine', 'mill'] } }
  assert.equal(called(entries, ['Tell me of the difference\nengine, please.']), ['engine'])
  assert.equal(called(entries, ['A MILL!']), ['engine'])
  assert.equal(called(entries, ['A million engines of difference']), [])
  assert.equal(called(entries, ["The mill's wheel"]), ['engine'])
})

lore('knows words of scripts without spaces, and keys that are no letters', () => {
  const entries = { berlin: { keys: ['柏林'] }, fox: { keys: ['🦊'] }, cafe: { keys: ['CAFÉ'] } }
  assert.equal(called(entries, ['我住在柏林。']), ['berlin'])
  assert.equal(called(entries, ['a 🦊 in a cafe\u0301']), ['fox', 'cafe'])
})

lore('minds the case of keys only where it is asked to', () => {
  const entries = { exact: { keys: ['Rose'], case_sensitive: true }, any: { keys: ['Rose'] } }
  assert.equal(called(entries, ['a rose']), ['any'])
  assert.equal(called(entries, ['Rose!']), ['exact', 'any'])
})

lore('that is selective needs a secondary key, too', () => {
  const entries = {
    both: { keys: ['king'], selective: true, secondary_keys: ['castle', 'crown'] },
    loose: { keys: ['king'], secondary_keys: ['castle'] },
    none: { keys: ['king'], selective: true },
  }
  assert.equal(called(entries, ['The king sleeps.']), ['loose', 'none'])
  assert.equal(called(entries, ['A crown!', 'The king sleeps.']), ['both', 'loose', 'none'])
})

lore('looks as many messages back as it says, four by default and twenty at most', () => {
  const entries = {
    one: { keys: ['owl'], scan_depth: 1 },
    four: { keys: ['owl'] },
    far: { keys: ['owl'], scan_depth: 99 },
  }
  const after = (count: number) => ['The owl.', ...Array.from({ length: count }, (_, at) => `message ${at}`)]
  assert.equal(called(entries, after(0)), ['one', 'four', 'far'])
  assert.equal(called(entries, after(3)), ['four', 'far'])
  assert.equal(called(entries, after(19)), ['far'])
  assert.equal(called(entries, after(20)), [])
})

lore('that is constant always comes, and what is not enabled or has regular expressions never does', () => {
  const entries = {
    always: { keys: [], constant: true },
    off: { keys: ['owl'], constant: true, enabled: false },
    pattern: { keys: ['(a+)+$', 'owl'], use_regex: true, constant: true },
    plain: { category: 'note' },
  }
  assert.equal(called(entries, ['owl aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!']), ['always'])
  assert.equal(called(entries, []), ['always'])
})

lore('stands in its order; of more than fits the highest priority stays, constant entries first', () => {
  const entries = {
    late: { keys: ['owl'], insertion_order: 9, priority: 5, length: 40 },
    early: { keys: ['owl'], insertion_order: 1, priority: 9, length: 40 },
    least: { keys: ['owl'], insertion_order: 2, priority: 1, length: 40 },
    always: { keys: [], constant: true, insertion_order: 5, priority: -1, length: 20 },
  }
  assert.equal(called(entries, ['owl'], 1000), ['early', 'least', 'always', 'late'])
  assert.equal(called(entries, ['owl'], 100), ['early', 'always', 'late'])
  assert.equal(called(entries, ['owl'], 25), ['always'])
})

lore('of any wrong type is no entry, or has none of the wrong fields', () => {
  assert.is(loreOf({ keys: 'owl' }), undefined)
  const odd = {
    keys: ['owl', 7, null, ''],
    secondary_keys: 'x',
    selective: true,
    insertion_order: 'first',
    scan_depth: -3,
  }
  assert.equal(called({ odd }, ['owl']), ['odd'])
  assert.equal(called({ huge: { keys: ['x'.repeat(300)] } }, ['x'.repeat(300)]), [])
})

lore('of ten thousand entries brings the one that is meant, and no more than a prompt takes', () => {
  const entries: Record<string, Record<string, unknown>> = {}
  for (let at = 0; at < 10_000; at++) entries[`e${at}`] = { keys: [`place ${at}`, 'everywhere'], insertion_order: at }
  assert.equal(called(entries, ['I went to place 4711.'], 8000), ['e4711'])
  assert.is(called(entries, ['everywhere '.repeat(2000)], 8000).length, 64)
})

lore('is shown without its decorators and with names in the place of macros', () => {
  assert.is(
    loreText('@@depth 4\n@@@activate\n\n{{char}} knows {{USER}}.\n@@ stays', 'Ada'),
    'Ada knows the user.\n@@ stays',
  )
  assert.is(loreText('@@dont_activate', 'Ada'), '')
})

lore.run()
