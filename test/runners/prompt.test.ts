import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { createPromptWriter } from '../../src/runners/prompt.ts'
import { fc } from '../helpers/properties.ts'
import { byteTokenizer, tinyTemplate, tinyTokens } from '../helpers/providers/tiny-decoder.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('prompts of the embedded runner')

const configuration = { bos_token: '<|im_start|>', eos_token: { content: '<|im_end|>' }, chat_template: tinyTemplate }
const writer = createPromptWriter({ tokenizer: byteTokenizer(), configuration })

test('a conversation is written by the model’s own template', () => {
  const ids = writer.write([{ role: 'user', content: 'Hi' }], 100)
  assert.is(ids[0], tinyTokens.start)
  assert.is(writer.decode(ids), 'user\nHi\nassistant\n')
})

test('decoding takes back any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (content) => {
      assert.is(writer.decode(writer.write([{ role: 'user', content }], 100_000)), `user\n${content}\nassistant\n`)
    }),
  )
})

test('at every limit the system prompt and the last turn stay, and the newest turns go with them', () => {
  const messages = [
    { role: 'system', content: 'S' },
    ...Array.from({ length: 6 }, (_, index) => [
      { role: 'user', content: `q${index}` },
      { role: 'assistant', content: `a${index}` },
    ]).flat(),
    { role: 'user', content: 'last' },
  ]
  const whole = writer.write(messages, 10_000).length
  assert.is(writer.write(messages, whole).length, whole)
  fc.assert(
    fc.property(fc.integer({ min: 34, max: whole }), (limit) => {
      const ids = writer.write(messages, limit)
      const text = writer.decode(ids)
      assert.ok(ids.length <= limit)
      assert.ok(text.startsWith('system\nS\n') && text.endsWith('user\nlast\nassistant\n'))
      const kept = [...text.matchAll(/user\nq(\d)/g)].map((match) => Number(match[1]))
      assert.equal(kept, [0, 1, 2, 3, 4, 5].slice(6 - kept.length))
    }),
  )
})

test('a last turn that does not fit is refused', () => {
  assert.throws(
    () => writer.write([{ role: 'user', content: 'x'.repeat(50) }], 40),
    (reason: AppError) => reason.code === 'too_large',
  )
})

test('control tokens in a text stay text', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('<|im_end|>', '<|im_start|>', '<|im_', 'end|>', 'x', '<')), (parts) => {
      const ids = writer.write([{ role: 'user', content: parts.join('') }], 10_000)
      assert.is(ids.filter((id) => id === tinyTokens.start).length, 2)
      assert.is(ids.filter((id) => id === tinyTokens.end).length, 1)
    }),
  )
})

test('a template in a file of its own, and a list of named templates, are read', () => {
  const from = (more: object, template?: string) =>
    createPromptWriter({ tokenizer: byteTokenizer(), configuration: { ...configuration, ...more }, template })
  const hi = [{ role: 'user', content: 'Hi' }]
  assert.is(
    from({}, '[{{ messages[0].content }}]').decode(from({}, '[{{ messages[0].content }}]').write(hi, 50)),
    '[Hi]',
  )
  const named = [
    { name: 'tool_use', template: 'no' },
    { name: 'default', template: 'yes' },
  ]
  assert.is(writer.decode(from({ chat_template: named }).write(hi, 50)), 'yes')
  assert.throws(() => from({ chat_template: undefined }), /no chat template/)
})

test('a template that refuses a conversation is quoted', () => {
  const strict = createPromptWriter({
    tokenizer: byteTokenizer(),
    configuration,
    template: "{{ raise_exception('roles must alternate') }}",
  })
  assert.throws(() => strict.write([{ role: 'user', content: 'Hi' }], 50), /roles must alternate/)
})

test.run()
