import { crc32, deflateSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { plainPng, readPngTexts, writePngTexts } from '../../../src/formats/png-text.ts'
import {
  cardOfPersona,
  parseCard,
  personaOfCard,
  readCardJson,
  readCardPng,
  writeCardPng,
} from '../../../src/personas/card/card.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const cards = suite('character cards')

const ada = {
  spec: 'chara_card_v2',
  spec_version: '2.0',
  unknown_at_the_top: [1],
  data: {
    name: 'Ada',
    description: '{{char}} is a mathematician. {{user}} is her pupil.',
    personality: 'curious',
    scenario: 'London, 1842',
    first_mes: 'Good day.',
    mes_example: '<START>\n{{char}}: Numbers!',
    creator_notes: 'notes',
    system_prompt: '',
    post_history_instructions: 'Stay kind.',
    alternate_greetings: ['Hello.'],
    character_book: { entries: [{ keys: ['engine'], content: 'It is made of brass.', unknown_lore: true }] },
    tags: ['history'],
    creator: 'me',
    character_version: '1',
    extensions: { 'other/app': { deep: { kept: true } } },
    unknown_field: 'kept',
  },
}

cards('has names of 200 characters at the most', () => {
  const long = { ...ada, data: { ...ada.data, name: ` ${'n'.repeat(201)}`, nickname: ` ${'k'.repeat(201)}` } }
  const { name, nickname } = personaOfCard(parseCard(long)) as unknown as { name: string; nickname: string }
  assert.equal([name, nickname], ['n'.repeat(200), 'k'.repeat(200)])
})

cards('makes a prompt of the texts and puts names in the place of macros', () => {
  const persona = personaOfCard(parseCard(ada))
  assert.equal([persona.name, persona.model], ['Ada', undefined])
  assert.is(
    persona.system_prompt,
    [
      'You are Ada. Stay in this role.',
      'Ada is a mathematician. the user is her pupil.',
      'Personality: curious',
      'Scenario: London, 1842',
      'Example of how Ada talks: <START>\nAda: Numbers!',
    ].join('\n\n'),
  )
  assert.is(persona.post_history_instructions, 'Stay kind.')
})

cards('keeps unknown fields, lore and extensions included, as version 3', () => {
  const original = parseCard(ada)
  const card = cardOfPersona({ ...personaOfCard(original), model: 'm' }, original)
  assert.is(card.spec, 'chara_card_v3')
  assert.equal(card['unknown_at_the_top'], [1])
  assert.equal(card.data['character_book'], ada.data.character_book)
  assert.equal([card.data['unknown_field'], card.data['system_prompt']], ['kept', ''])
  assert.equal(card.data['extensions'], { ...ada.data.extensions, 'aichat/persona': { model: 'm' } })
  assert.equal(personaOfCard(card), { ...personaOfCard(original), model: 'm' })
})

cards('exports a persona whose prompt still holds the last instructions of its card as the card was', () => {
  const original = parseCard(ada)
  const { post_history_instructions, system_prompt, ...persona } = personaOfCard(original)
  const earlier = { ...persona, system_prompt: `${system_prompt}\n\n${post_history_instructions}` }
  const { data } = cardOfPersona(earlier, original)
  assert.equal([data['system_prompt'], data['post_history_instructions']], ['', 'Stay kind.'])
})

cards('carries a changed prompt and the settings through another program', () => {
  const original = parseCard(ada)
  const changed = { system_prompt: 'Be Ada.', post_history_instructions: 'Be brief.', nickname: 'A' }
  const persona = { ...personaOfCard(original), ...changed, model: 'm', parameters: { temperature: 0.5 } }
  assert.equal(personaOfCard(cardOfPersona(persona, original)), persona)
  const fresh = { name: 'New', model: 'm', system_prompt: 'Hi.' }
  assert.equal(personaOfCard(cardOfPersona(fresh, undefined)), fresh)
})

cards('travels in a picture, for readers of both versions, and keeps the picture', () => {
  const card = cardOfPersona({ name: 'Zoë 🦊', model: 'm' }, undefined)
  const picture = writePngTexts(plainPng(3), [{ keyword: 'Author', text: 'me' }])
  const png = writeCardPng(card, writeCardPng(card, picture))
  assert.equal(readCardPng(png), card)
  assert.equal(pluck(readPngTexts(png), 'keyword'), ['Author', 'chara', 'ccv3'])
  const older = JSON.parse(Buffer.from(readPngTexts(png)[1]!.text, 'base64').toString('utf8'))
  assert.is(older.spec, 'chara_card_v2')
  assert.match(older.data.creator_notes, /newer version/)
})

const encoded = Buffer.from(JSON.stringify(ada)).toString('base64')

for (const [type, data] of [
  ['tEXt', `chara\0${encoded.replace(/.{76}/g, '$&\r\n')}\n`],
  ['zTXt', Buffer.concat([Buffer.from('chara\0\0'), deflateSync(encoded)])],
  ['iTXt', `Chara\0\0\0en\0figure\0${encoded}`],
  ['iTXt', Buffer.concat([Buffer.from('chara\0\x01\0\0\0'), deflateSync(encoded)])],
] as const)
  cards(`reads a card from ${typeof data === 'string' ? 'a plain' : 'a packed'} ${type}`, () => {
    assert.equal(readCardPng(pictureWith(type, Buffer.from(data))), ada)
  })

for (const data of ['chara\0\0', 'chara\0\0\0en', 'chara\0\x01\0\0\0nonsense'])
  cards(`takes an iTXt that breaks off for no card: ${JSON.stringify(data)}`, () => {
    assert.throws(() => readCardPng(pictureWith('iTXt', Buffer.from(data))), /no character card|no spec|JSON|unpack/)
  })

cards('takes null for absent, and mends a text that was cut within a character', () => {
  const card = readCardJson(
    JSON.stringify({ ...ada, data: { ...ada.data, creator_notes: null, extensions: null } }).replace(
      'London, 1842',
      'London \\ud83d',
    ),
  )
  assert.is(card.data['scenario'], 'London \ufffd')
  assert.match(personaOfCard(card).system_prompt!, /London \ufffd/)
  assert.equal(readCardPng(writeCardPng(cardOfPersona({ ...personaOfCard(card), model: 'm' }, card))).data['tags'], [
    'history',
  ])
})

function pictureWith(name: string, data: Buffer): Buffer {
  const type = Buffer.from(name)
  const sizes = [Buffer.alloc(4), Buffer.alloc(4)] as const
  sizes[0].writeUInt32BE(data.length)
  sizes[1].writeUInt32BE(crc32(Buffer.concat([type, data])))
  const png = plainPng(1)
  const end = png.length - 12
  return Buffer.concat([png.subarray(0, end), sizes[0], type, data, sizes[1], png.subarray(end)])
}

const broken: readonly (readonly [name: string, read: () => unknown, message: RegExp])[] = [
  ['a picture without a card', () => readCardPng(plainPng(1)), /holds no character card/],
  ['a picture that breaks off', () => readCardPng(writeCardPng(parseCard(ada)).subarray(0, -5)), /breaks off/],
  ['a picture with a flipped bit', () => readCardPng(flipped(writeCardPng(parseCard(ada)), 200)), /damaged|breaks off/],
  [
    'a card that is no base64',
    () => readCardPng(writePngTexts(plainPng(1), [{ keyword: 'chara', text: '<b>' }])),
    /is damaged/,
  ],
  ['a text that is no card', () => readCardJson('{"name":"x"}'), /Invalid character card/],
  ['a card without data', () => readCardJson('{"spec":"chara_card_v2"}'), /has no data/],
  ['a card without a name', () => readCardJson('{"spec":"chara_card_v3","data":{}}'), /Invalid character card/],
  [
    'a card that reaches for the prototype',
    () => readCardJson('{"spec":"chara_card_v2","data":{"__proto__":{}}}'),
    /forbidden key/,
  ],
  [
    // Tried again from each of its characters, a text of that length would be looked at for an hour.
    'a long text that is no card',
    () => readCardPng(writePngTexts(plainPng(1), [{ keyword: 'chara', text: `${' '.repeat(1_000_000)}!` }])),
    /card in the picture is damaged/,
  ],
  ['something else', () => readCardPng(Buffer.from('hello')), /not a PNG/],
]

for (const [name, read, message] of broken)
  cards(`refuses ${name}`, () => {
    assert.throws(read, message)
  })

cards('takes a version that is newer than all', () => {
  assert.is(personaOfCard(parseCard({ ...ada, spec: 'chara_card_v9', spec_version: '9.0' })).name, 'Ada')
})

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = copy[at]! ^ 1
  return copy
}

cards.run()
