// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { fixture } from '../../helpers/fixture.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('stage directions')

const { usual, asides, examples } = fixture<{
  /** Of scripts and chat models: the usual ones, of which the rule must know three in four. */
  readonly usual: readonly string[]
  /** Ordinary asides of encyclopedias, news, manuals, recipes and mails, and words that directions use as well. */
  readonly asides: readonly string[]
  readonly examples: readonly (readonly [written: string, spoken: string])[]
}>('stage-directions.json')

test('of the usual directions three in four are not spoken where they are a sentence or open one', () => {
  assert.ok(usual.length >= 130)
  for (const [open, close] of ['()', '[]', '**'])
    for (const [before, after] of [
      ['', ' You never told me.'],
      ['You never told me. ', ''],
      ['He said: ', ' You never told me.'],
    ] as const) {
      const kept = usual.filter(
        (inside) => sanitize(`${before}${open}${inside}${close}${after}`) !== `${before.trim()}${after}`.trim(),
      )
      assert.ok(kept.length <= usual.length / 4, kept.join(' | '))
    }
})

test('no ordinary aside loses a word, wherever it stands', () => {
  assert.ok(asides.length >= 300)
  const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  for (const [before, after] of [
    ['', ' You never told me.'],
    ['You never ', ' told me.'],
    ['You never told me ', '.'],
    ['You never told me. ', ''],
  ] as const)
    assert.equal(
      asides.filter((aside) => words(sanitize(before + aside + after)) < words(before + aside + after)),
      [],
    )
})

test('each direction that goes is named as it was written, once', () => {
  const written: string[] = []
  const text = 'She felt *angry*. (sighs, looks away) **He** left (see page). 🎉 *nods* [pause]'
  const clean = sanitize(text, { onDirection: (direction) => written.push(direction) })
  assert.is(clean, 'She felt angry. He left (see page).')
  assert.equal(written, ['(sighs, looks away)', '*nods*', '[pause]'])
})

test('with keepDirections all are spoken', () => {
  const onDirection = (written: string) => assert.unreachable(written)
  assert.is(sanitize('(laughs) Hello. *nods*', { keepDirections: true, onDirection }), '(laughs) Hello. nods')
})

test('examples of the rule', () => {
  for (const [written, spoken] of examples) assert.is(sanitize(written), spoken)
})

test.whole('hostile directions are read in one pass', () => {
  for (const kind of ['very ', 'and ', 'sighs and ', 'with a ', 'deep ', 'sighs, ', 'in a low ', 'hands on ']) {
    assert.ok(sanitize(`*${kind.repeat(20)}`.repeat(40)).length > 0)
    assert.ok(sanitize(`(${kind.repeat(110 / kind.length)}) `.repeat(400)).length >= 0)
  }
})

test.run()
