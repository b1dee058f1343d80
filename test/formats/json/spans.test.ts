import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { itemSpans, memberSpans, type Span } from '../../../src/formats/json/spans.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { put } from '../../helpers/personas/package-forge.ts'
import { suite } from '../../helpers/suite.ts'

const spans = suite('spans of a JSON file')

function inFile<T>(text: string, use: (file: number, textOf: (span: Span) => string, size: number) => T): T {
  const folder = temporaryFolder()
  const path = put(join(folder, 'file.json'), text)
  const file = openSync(path, 'r')
  const bytes = readFileSync(path)
  try {
    return use(file, ({ start, end }) => bytes.toString('utf8', start, end), bytes.length)
  } finally {
    closeSync(file)
  }
}

/** About the lengths at which more is read at once. */
const lengths = [0, 1, 63, 64, 65, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 65, 300_000]

for (const length of lengths)
  spans(`are found behind and before ${length} bytes of white space`, () => {
    const blank = ' \n\t\r'.repeat(Math.ceil(length / 4)).slice(0, length)
    const text = `${blank}{${blank}"a"${blank.slice(0, 500)}:[1,${blank}2]${blank},"b" : {} ${blank}}${blank}`
    inFile(text, (file, textOf, size) => {
      const members = memberSpans(file, size)
      assert.equal([...members.keys()], ['a', 'b'])
      const items = [...itemSpans(file, members.get('a')!, 'a')].map((span) => textOf(span).trim())
      assert.equal(items, ['1', '2'])
      assert.is(textOf(members.get('b')!).trim(), '{}')
    })
    inFile(`${blank}{${blank}}${blank}`, (file, _textOf, size) => assert.is(memberSpans(file, size).size, 0))
    inFile(`{"a":[${blank}]}`, (file, _textOf, size) =>
      assert.is([...itemSpans(file, memberSpans(file, size).get('a')!, 'a')].length, 0),
    )
  })

spans('of a list are none where one of its brackets is missing', () => {
  for (const list of ['[1}', '{1]', '['])
    inFile(list, (file, _textOf, size) => {
      assert.throws(() => [...itemSpans(file, { start: 0, end: size }, 'a')], /a is not a whole JSON array/)
    })
})

spans.run()
