import * as assert from 'uvu/assert'
import { chunksOf, collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ChatChunk, Delta } from '../../../src/chat/protocol/messages.ts'
import { piecesOf, reply } from '../../helpers/chat/arbitraries.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('answers in chunks')

function chunk(delta: Delta, more: object = {}): ChatChunk {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  }
}

test('an answer cut into chunks and collected again is the same answer', () => {
  fc.assert(
    fc.property(reply, (whole) => assert.equal(collectReply(chunksOf(whole)), whole)),
    { numRuns: 300 },
  )
})

test('an answer in pieces of any size is the same answer', () => {
  fc.assert(
    fc.property(reply, fc.integer({ min: 1, max: 20 }), (whole, size) => {
      const { message } = collectReply(piecesOf(chunksOf(whole), size)).choices[0]!
      const { content, ...expected } = whole.choices[0]!.message
      assert.equal({ ...message, content: message.content ?? '' }, { ...expected, content: content ?? '' })
    }),
    { numRuns: 300 },
  )
})

test('a signature signs the thinking since the one before it', () => {
  const signature = (index: number, text: string): Delta => ({
    reasoning_details: [{ type: 'reasoning.text', signature: text, index }],
  })
  const chunks = [
    { reasoning_content: 'a' },
    { reasoning_content: 'b' },
    signature(0, 'x'),
    { reasoning_content: 'c' },
    signature(2, 'y'),
  ]
  const { message } = collectReply(chunks.map((delta) => chunk(delta))).choices[0]!
  assert.equal(
    message.reasoning_details?.map((detail) => [detail.text, detail.signature]),
    [
      ['ab', 'x'],
      ['c', 'y'],
    ],
  )
  assert.is(message.reasoning_content, 'abc')
})

test('padding and control fields of a stream are no part of the answer', () => {
  const chunks = [
    chunk({ content: 'a' }, { obfuscation: 'x', p: 'y', provider: 'z' }),
    chunk({ extra_content: { anthropic: { event: { type: 'x' } } } }),
  ]
  assert.equal(collectReply(chunks), {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    provider: 'z',
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'error' }],
  })
})

test.run()
