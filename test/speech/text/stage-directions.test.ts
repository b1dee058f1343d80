import * as assert from 'uvu/assert'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { isStageDirection } from '../../../speech/text/stage-directions.ts'
import { suite } from '../../helpers/suite.ts'
import * as fresh from './stage-directions/fresh.ts'
import * as last from './stage-directions/last.ts'
import { asides, directions, heldOutAsides, heldOutDirections } from './stage-directions/lists.ts'
import { half, lost, positions, spoken } from './stage-directions/measure.ts'
import * as unseen from './stage-directions/unseen.ts'

const test = suite('stage directions')

for (const [name, list] of Object.entries({ 'written with them in sight': directions, 'held out': heldOutDirections }))
  test(`of the usual stage directions ${name}, nine in ten are not spoken, in parentheses or brackets`, () => {
    assert.ok(list.length >= 65)
    for (const [open, close] of ['()', '[]']) {
      const kept = list.filter((inside) => sanitize(`Well ${open}${inside}${close} hello.`) !== 'Well hello.')
      assert.ok(kept.length <= list.length / 10, kept.join(' | '))
    }
  })

for (const [name, list] of Object.entries({ 'written with them in sight': asides, 'held out': heldOutAsides }))
  test(`of the ordinary asides ${name}, none is lost`, () => {
    assert.ok(list.length >= 65)
    assert.equal(
      list.filter((inside) => sanitize(`It was so (${inside}) then.`) !== `It was so (${inside}) then.`),
      [],
    )
  })

for (const position of positions) {
  test(`nine in ten directions of scripts, chats and captions go, at the ${position} of a sentence`, () => {
    for (const list of [half(fresh.directions, 0), last.directions, unseen.firstDirections, unseen.secondDirections]) {
      const kept = spoken(list, position)
      assert.ok(list.length >= 60 && kept.length <= list.length / 10, kept.join(' | '))
    }
  })

  test(`no aside of encyclopedias, manuals, recipes and mails is lost, at the ${position} of a sentence`, () => {
    for (const list of [half(fresh.asides, 0), last.asides, unseen.firstAsides, unseen.secondAsides]) {
      assert.ok(list.length >= 60)
      assert.equal(lost(list, position), [])
    }
  })
}

test('each direction that goes is named as it was written, once', () => {
  const written: string[] = []
  const text = 'She felt *angry*. (sad, happy, angry) **He** left [pause] (see page) 🎉 *sighs*'
  const clean = sanitize(text, (direction) => written.push(direction))
  const named = written.join(' ')
  for (const direction of ['(sad, happy, angry)', '[pause]', '*sighs*'])
    assert.is(named.split(direction).length, 2, `${direction} in ${named}`)
  const words = (all: string) => all.match(/\p{L}+/gu)!.sort()
  assert.equal(words(`${clean} ${named}`), words(text))
})

test('a verb between asterisks behind its subject is emphasis', () => {
  for (const text of [
    'This option *opens a new window* at once.',
    'He *giggles nervously* at danger.',
    'The dog *barks loudly* at night.',
    'She was *trying not to laugh* then.',
    'It *walks you through it* now.',
  ])
    assert.is(sanitize(text), text.replaceAll('*', ''))
})

test('text between asterisks is a direction where it tells an action, and emphasis otherwise', () => {
  const rows: readonly (readonly [written: string, spoken: string])[] = [
    ['*sighs* I am tired.', 'I am tired.'],
    ['*takes a deep breath* Here we go.', 'Here we go.'],
    ['Well, *clears throat* let us begin.', 'Well, let us begin.'],
    ['I do not know. *shrugs*', 'I do not know.'],
    ['I do not know *shrugs*', 'I do not know'],
    ['_laughs nervously_ Fine.', 'Fine.'],
    ['*softly* I love you.', 'I love you.'],
    ['(whispering): Come here.', 'Come here.'],
    ['I am *very excited* about it.', 'I am very excited about it.'],
    ['He *laughs* at danger.', 'He laughs at danger.'],
    ['She spoke *softly*.', 'She spoke softly.'],
    ['*Quietly*, he left.', 'Quietly, he left.'],
    ['This is *important*.', 'This is important.'],
  ]
  for (const [written, spoken] of rows) assert.is(sanitize(written), spoken)
})

test('directions of other languages go, their asides stay', () => {
  for (const inside of [
    'lacht leise',
    'mit leiser Stimme',
    'soupire',
    'à voix basse',
    'en voz baja',
    'sospira',
    'тихо',
    '笑',
  ])
    assert.ok(isStageDirection(inside), inside)
  for (const inside of ['siehe Seite 4', 'im Jahr 1998', 'par exemple', 'por ejemplo', 'например', '见第四页'])
    assert.not.ok(isStageDirection(inside), inside)
})

test('hostile directions are read in one pass', () => {
  const kinds = ['very ', 'and ', 'sighs and ', 'with a ', 'a ', 'deep ', 'softly, ', 'in a low ', 'hands on ', 'to ']
  for (const kind of kinds) {
    for (const size of [119, 10_000]) assert.is(typeof isStageDirection(kind.repeat(size / kind.length)), 'boolean')
    assert.is(sanitize(`*${kind.repeat(20)}`.repeat(40)).length > 0, true)
  }
})

test.run()
