import * as assert from 'uvu/assert'
import { createReasoningSeals } from '../../src/chat/sealed-reasoning.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('reasoning sealed for its way through clients')
const place = { plugin: 'anthropic', runner: null, model: 'claude-sonnet-4-5' }
const reasoning = { text: 'I think of 世界.', details: [{ type: 'reasoning.text', signature: 'c2ln' }] }
const seals = createReasoningSeals(() => ['a secret of this installation'])
const sealed = seals.sealFor('ada', place)(reasoning)

test('it opens for the same user, plugin and model, and for nobody else', () => {
  assert.equal(seals.openFor('ada', place)(sealed), reasoning)
  assert.is(seals.openFor('bob', place)(sealed), undefined)
  assert.is(seals.openFor(undefined, place)(sealed), undefined)
  for (const other of [{ plugin: 'openai' }, { plugin: null, runner: 'ollama' }, { model: 'claude-opus-4-5' }])
    assert.is(seals.openFor('ada', { ...place, ...other })(sealed), undefined, JSON.stringify(other))
})

test('a client can neither read nor change it, and two of the same differ', () => {
  assert.not.match(
    Buffer.from(sealed.slice('aichat1.'.length), 'base64url').toString('latin1'),
    /think|c2ln|ada|claude/,
  )
  assert.is.not(seals.sealFor('ada', place)(reasoning), sealed)
  for (let at = 0; at < sealed.length; at++) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`
    const opened = seals.openFor('ada', place)(changed)
    // The last character of base64 may hold bits that say nothing.
    if (at < sealed.length - 1) assert.is(opened, undefined, String(at))
  }
})

test('any other text is a stranger’s', () => {
  const open = seals.openFor('ada', place)
  for (const text of [
    '',
    'aichat1.',
    'aichat1.AAAA',
    'aichat2.AAAA',
    'gAAAAABqhb8',
    sealed.slice(0, -8),
    `${sealed}AAAA`,
  ])
    assert.is(open(text), undefined, text)
  fc.assert(
    fc.property(
      fc.string(),
      fc.base64String(),
      (text, data) => open(text) === undefined && open(`aichat1.${data}`) === undefined,
    ),
  )
})

test('a new secret seals, and the one before it still opens; another installation’s does not', () => {
  const renewed = createReasoningSeals(() => ['a new secret', 'a secret of this installation'])
  assert.equal(renewed.openFor('ada', place)(sealed), reasoning)
  assert.is(seals.openFor('ada', place)(renewed.sealFor('ada', place)(reasoning)), undefined)
})

test.run()
