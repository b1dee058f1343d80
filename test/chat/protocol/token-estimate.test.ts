import * as assert from 'uvu/assert'
import { AnswerTokens, estimateRequestTokens } from '../../../src/chat/protocol/token-estimate.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('tokens estimated without a provider')

/** Of a request beside its messages and of a message beside its content. */
const frame = 7
const of = (content: string) => estimateRequestTokens({ messages: [{ content }] }) - frame

/** Texts of ten characters or runs, and their tokens. */
const texts: readonly (readonly [text: string, tokens: number])[] = [
  ['', 0],
  ['a'.repeat(11), 2.8],
  [' '.repeat(10), 0],
  ['\n'.repeat(10), 0.4],
  ['\n a\n', 1.1],
  ['0'.repeat(11), 8],
  ['.'.repeat(10), 0.75],
  ['“”', 0.75],
  ['ä'.repeat(10), 10.5],
  ['ж'.repeat(10), 4.2],
  ['אבγ', 1.56],
  ['ก'.repeat(10), 6],
  ['かなカ', 2.25],
  ['한국', 2],
  ['漢字', 2],
  ['\ue000', 0.7],
]

for (const [text, tokens] of texts)
  test(`of ${JSON.stringify(text)} are ${tokens}`, () => {
    assert.is(of(text), Math.ceil(tokens - 1e-9))
    const answer = new AnswerTokens()
    assert.ok(Math.abs(answer.add({ content: text }, 'm') - tokens) < 1e-9)
  })

test('of a long text are those of samples from its beginning to its very end', () => {
  const count = 256 * 1024
  assert.is(of('漢'.repeat(count)), count)
  const rare = 4096
  // A sixteenth of what is looked at.
  assert.is(of(' '.repeat(count - rare) + '漢'.repeat(rare)), count / 16)
  assert.is(of('漢'.repeat(rare) + ' '.repeat(count - rare)), count / 16)
})

test('of a call are those of its name and arguments, and more of Claude; of tools four fifths of their JSON', () => {
  const called = { name: 'aaaa', arguments: '{}' }
  const tokens = (model: string) => new AnswerTokens().add({ tool_calls: [{ function: called }] } as never, model)
  assert.equal(
    [tokens('gpt'), tokens('claude-x')].map((sum) => Math.round(sum * 100) / 100),
    [9.8, 37.8],
  )
  const tools = ['漢'.repeat(100)]
  assert.is(estimateRequestTokens({ messages: [], tools }), Math.ceil(4 + 0.8 * (100 + 1.5)))
})

test('of a picture are those of its pixels', () => {
  const picture = Buffer.alloc(30)
  picture.write('RIFF')
  picture.write('WEBPVP8X', 8)
  picture.writeUIntLE(750 - 1, 24, 3)
  picture.writeUIntLE(100 - 1, 27, 3)
  const url = `data:image/webp;base64,${picture.toString('base64')}`
  assert.is(
    estimateRequestTokens({ messages: [{ content: [{ type: 'image_url', image_url: { url } }] }] }),
    100 + frame,
  )
})

test.run()
