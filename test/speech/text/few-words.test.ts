import * as assert from 'uvu/assert'
import { hasFewWords } from '../../../speech/text/few-words.ts'
import { countCharacters, splitChunks } from '../../../speech/text/sentences.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('few words alone')

const long = `${'one two three four five six seven eight nine ten, '.repeat(9)}and the end of it all here.`

test('one or two words share a neighbour, before or behind, within the limit', () => {
  assert.ok(countCharacters(long) > 470 && countCharacters(long) < 500)
  for (const text of [
    `${long} Yes, indeed.`,
    `No way! ${long}`,
    `${long} Chapter One\n${long}`,
    `${long} ${long} Oh.`,
  ]) {
    const chunks = splitChunks(text)
    for (const chunk of chunks) {
      assert.not.ok(hasFewWords(chunk), chunk)
      assert.ok(countCharacters(chunk) <= 500)
    }
    assert.is(chunks.join('').replace(/\s/g, ''), text.replace(/\s/g, ''))
  }
})

test('a chunk is cut anew behind a sentence where there is one', () => {
  const sentences = `${'The weather will change before the end of the week. '.repeat(9)}Yes.`
  assert.equal(
    splitChunks(sentences, 470).map((chunk) => /^(?:The|Yes).*\.$/s.test(chunk)),
    [true, true],
  )
})

test('few words that have no neighbour stay alone', () => {
  assert.equal(splitChunks('Yes.'), ['Yes.'])
  assert.equal(splitChunks('x'.repeat(1200)).map(countCharacters), [500, 500, 200])
})

test('signs of a script without spaces are counted, not their spaces', () => {
  assert.not.ok(hasFewWords('今天天气很好。'))
  assert.ok(hasFewWords('是的。'))
  assert.ok(hasFewWords('Well, yes!'))
  assert.not.ok(hasFewWords('It is so.'))
})

test.run()
