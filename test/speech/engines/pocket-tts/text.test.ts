/** The tokenizer and the preparation of text, against the reference's examples and by rules that hold for any text. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readPieces } from '../../../../speech/engines/neural/sentence-pieces.ts'
import { chunkText, cutText, prepareText } from '../../../../speech/engines/pocket-tts/text.ts'
import { hasFewWords } from '../../../../speech/text/few-words.ts'
import { writeMessage } from '../../../../src/inference/protobuf.ts'
import { fc } from '../../../helpers/properties.ts'
import { suite } from '../../../helpers/suite.ts'
import { modelFolders } from './golden.ts'
import { tokenizerModel } from './model.ts'

const test = suite('pocket-tts text')

const sampling = { tokensPerSecond: 3, paddingSeconds: 2 } as Parameters<typeof chunkText>[2]['sampling']
const rules = (removeSemicolons: boolean, tokensPerChunk: number) => ({
  text: { removeSemicolons, framesAfterEnd: undefined, replaced: {} },
  sampling: { ...sampling, tokensPerChunk },
})

const folders = modelFolders()
if (folders.length === 0) test.skip('the tokenizers of the test data', () => undefined)

interface TokenizerCases {
  readonly pairs: readonly { readonly text: string; readonly ids: readonly number[]; readonly decoded: string }[]
}

interface TextCases {
  readonly cases: readonly {
    readonly input: string
    readonly flags: { readonly remove_semicolons: boolean }
    readonly max_tokens: number
    readonly prepared_whole_text: string
    readonly chunks: readonly {
      readonly text: string
      readonly token_ids: readonly number[]
      readonly frames_after_eos: number
      readonly max_gen_len: number
    }[]
  }[]
}

for (const folder of folders.filter((path) => existsSync(join(path, 'tokenizer-golden.json'))))
  test('cuts every example into the pieces that the SentencePiece library cuts, and joins them again', async () => {
    const tokenizer = readPieces(readFileSync(join(folder, 'tokenizer.model')), 'tokenizer.model')
    const { pairs } = JSON.parse(readFileSync(join(folder, 'tokenizer-golden.json'), 'utf8')) as TokenizerCases
    for (const { text, ids, decoded } of pairs) {
      assert.equal(tokenizer.encode(text), ids, text)
      assert.is(tokenizer.decode(ids), decoded)
    }
  })

for (const folder of folders.filter((path) => existsSync(join(path, 'text-prep-golden.json'))))
  test('prepares and cuts every example as the reference does', async () => {
    const tokenizer = readPieces(readFileSync(join(folder, 'tokenizer.model')), 'tokenizer.model')
    const { cases } = JSON.parse(readFileSync(join(folder, 'text-prep-golden.json'), 'utf8')) as TextCases
    for (const { input, flags, max_tokens, prepared_whole_text, chunks } of cases) {
      // The reference's padding in front is trimmed away again before the text is cut.
      assert.is(prepareText(input, flags.remove_semicolons), prepared_whole_text.trimStart())
      const made = cutText(input, tokenizer, rules(flags.remove_semicolons, max_tokens), 12.5)
      const expected = chunks.map((chunk) => ({
        text: chunk.text,
        ids: chunk.token_ids,
        framesAfterEnd: chunk.frames_after_eos,
        frameLimit: chunk.max_gen_len,
      }))
      assert.equal(made, expected)
    }
  })

const tokenizer = readPieces(tokenizerModel(340), 'tokenizer.model')

test('any text comes back from its pieces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const ids = tokenizer.encode(text)
      assert.ok(ids.every((id) => id >= 0 && id < tokenizer.size))
      // The mark of a space stands for a space.
      assert.is(tokenizer.decode(ids), text.replaceAll('▁', ' '))
    }),
  )
})

test('half of a surrogate pair becomes the replacement character', () => {
  assert.is(tokenizer.decode(tokenizer.encode('a\ud800b')), 'a\ufffdb')
})

test('chunks hold all the words in their order and keep to the limit where a sentence ends', () => {
  const sentence = fc
    .array(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 1, maxLength: 4 })
    .map((words) => words.join(' '))
  fc.assert(
    fc.property(fc.array(sentence, { minLength: 1, maxLength: 12 }), (sentences) => {
      const text = `${sentences.join('. ')}.`
      const chunks = chunkText(text, tokenizer, rules(false, 30), 12.5)
      const words = (value: string) => value.toLowerCase().match(/[a-z]+/g)
      assert.equal(words(chunks.map((chunk) => chunk.text).join(' ')), words(text))
      for (const { text: spoken, ids } of chunks) {
        // Sentences are counted one by one; each that is joined to another can cost one id more.
        const joints = spoken.split('. ').length - 1
        assert.ok(joints === 0 || ids.length <= 30 + joints, `${ids.length} ids: ${spoken}`)
      }
    }),
  )
})

test('one or two words share a neighbour within the limit, and stay alone without one', () => {
  const told = (text: string, limit: number) =>
    chunkText(text, tokenizer, rules(false, limit), 12.5).map((chunk) => chunk.text)
  for (const text of ['aa bb cc dd ee ff. Oh.', 'Oh. aa bb cc dd ee ff.', 'aa bb cc dd. ee ff gg hh. Oh yes.']) {
    const limit = tokenizer.encode(text).length - 2
    const before = cutText(text, tokenizer, rules(false, limit), 12.5).map((chunk) => chunk.text)
    const chunks = told(text, limit)
    assert.ok(before.some(hasFewWords), before.join('|'))
    assert.not.ok(chunks.some(hasFewWords), chunks.join('|'))
    const words = (pieces: readonly string[]) => pieces.join(' ').match(/[a-z]+/gi)
    assert.equal(words(chunks), words(before))
  }
  assert.equal(told('Oh.', 30), ['Oh.'])
})

test('a model of another kind is refused by name', () => {
  const bytePairs = writeMessage([
    { field: 1, message: [{ field: 1, text: 'a' }] },
    { field: 2, message: [{ field: 3, varint: 2 }] },
    { field: 3, message: [{ field: 2, bytes: new Uint8Array(8) }] },
  ])
  assert.throws(
    () => readPieces(bytePairs, 'other.model'),
    (thrown: { message: string; details: string[] }) =>
      thrown.message.includes('other.model') && thrown.details.length === 2,
  )
})

test('a damaged model is refused by name, wherever it breaks off', () => {
  const whole = tokenizerModel(300)
  const refused = (length: number) =>
    assert.throws(() => readPieces(whole.subarray(0, length), 'cut.model'), /cut\.model/)
  for (let length = 0; length < whole.length; length += 1 + (length % 7)) refused(length)
  // Also where one piece has ended and the next has not begun.
  for (let end = 0; whole[end] === 0x0a; end += 2 + whole[end + 1]!) refused(end)
})

test.run()
