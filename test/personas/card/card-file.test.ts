import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { plainPng } from '../../../src/formats/png-text.ts'
import { readCardFile } from '../../../src/personas/card/card-file.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { zipOf } from '../../helpers/personas/package-forge.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('archives of character cards')

const uri = 'embeded://icon.png'
const icon = (name: string, path = 'icon.png') => ({ type: 'icon', name, uri: `embedded://${path}`, ext: 'png' })
const png = plainPng(1)
const other = { name: 'other.png', data: Buffer.from('no picture') }

/** Assets that the card names, the files beside it, and whether there is a portrait; the files that are not kept. */
const rows: readonly (readonly [
  what: string,
  assets: readonly object[] | undefined,
  files: Readonly<Record<string, Buffer>>,
  hasPortrait: boolean,
  left: number,
])[] = [
  ['a PNG as its icon', [{ type: 'icon', name: 'main', uri }], { 'icon.png': png }, true, 1],
  ['a main icon behind another one', [icon('x', 'other.png'), icon('main')], { 'icon.png': png }, true, 1],
  ['one icon that is not called main', [icon('x')], { 'icon.png': png }, true, 1],
  ['an icon that is no PNG', [icon('main', 'other.png')], {}, false, 1],
  ['an empty icon', [icon('main')], { 'icon.png': Buffer.alloc(0) }, false, 2],
  ['an icon that is not there', [icon('main')], {}, false, 1],
  ['a background alone', [{ ...icon('main'), type: 'background' }], { 'icon.png': png }, false, 2],
  ['no assets', undefined, {}, false, 1],
]

for (const [what, assets, files, hasPortrait, left] of rows)
  test(`with ${what}`, () => {
    const data = { name: 'Ada', ...(assets && { assets }) }
    const card = Buffer.from(JSON.stringify({ spec: 'chara_card_v3', spec_version: '3.0', data }))
    const members = Object.entries(files).map(([name, bytes]) => ({ name, data: bytes }))
    const read = readArchive([
      { name: 'card.json', data: card },
      other,
      ...members,
      { name: 'x/', data: Buffer.alloc(0) },
    ])!
    assert.is(read.portrait, hasPortrait ? png.toString('base64') : undefined)
    assert.is(read.assets, left)
  })

test('without a card are none, and an empty card is damaged', () => {
  assert.is(readArchive([other]), undefined)
  assert.throws(() => readArchive([{ name: 'card.json', data: Buffer.alloc(0) }]), /card\.json is empty/)
})

function readArchive(members: Parameters<typeof zipOf>[0]) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'ada.charx'), zipOf(members))
  return readCardFile(join(folder, 'ada.charx'))
}

test.run()
