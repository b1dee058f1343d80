import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as assert from 'uvu/assert'
import {
  digestOfKey,
  isApiKey,
  keyTextProblem,
  makeKeyText,
  withoutApiKeys,
} from '../../../src/accounts/keys/key-text.ts'
import { looksLikeKey } from '../../../src/plugins/key-shapes.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the text of API keys')
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a key is aic_, 32 letters and digits, and six more that are the CRC-32 of what precedes', () => {
  const text = makeKeyText()
  assert.match(text, /^aic_[0-9A-Za-z]{38}$/)
  const sum = [...text.slice(-6)].reduce((value, letter) => value * 62 + alphabet.indexOf(letter), 0)
  assert.is(sum, crc32(text.slice(0, -6)))
  assert.is(keyTextProblem(text), undefined)
})

test('every letter is equally likely: bytes from 248 on are passed over', () => {
  const all = makeKeyText(() => Uint8Array.from({ length: 256 }, (_, at) => 255 - at))
  assert.is(all.slice(4, 36), [...alphabet].reverse().join('').slice(0, 32))
  const counts = new Map<string, number>()
  for (let round = 0; round < 2000; round++)
    for (const letter of makeKeyText(randomBytes).slice(4, 36)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  // 64,000 draws over 62 letters: 1,032 each; ten standard deviations are 320.
  for (const letter of alphabet) assert.ok(Math.abs(counts.get(letter)! - 1032) < 320, letter)
})

test('each changed, missing or further character is noticed', () => {
  const text = makeKeyText()
  for (let at = 4; at < text.length; at++) {
    const other = text[at] === 'x' ? 'y' : 'x'
    assert.is(keyTextProblem(text.slice(0, at) + other + text.slice(at + 1)), 'checksum')
  }
  for (const wrong of [text.slice(1), text.slice(0, -1), `${text}0`, `${text} `, `${text}\n`, text.toUpperCase(), ''])
    assert.is(keyTextProblem(wrong), 'shape', JSON.stringify(wrong))
})

test("a login's token, another service's key and noise are no API keys of ours", () => {
  assert.ok(isApiKey(makeKeyText()))
  for (const other of ['eyJhbGciOi.eyJzdWIi.c2ln', 'sk-abc', 'aic_a.b.c', '', "' OR 1=1 --"])
    assert.not(isApiKey(other))
})

test('messages and logs lose every key in them, and nothing else', () => {
  const [one, two] = [makeKeyText(), makeKeyText()]
  assert.is(withoutApiKeys(`a ${one}, "${two}" and aic_short`), 'a [key], "[key]" and aic_short')
  assert.ok(looksLikeKey(one))
})

test('what is stored is SHA-256 in base64url, and no key itself', () => {
  const digest = digestOfKey('aic_')
  assert.is(digest.length, 43)
  assert.is(keyTextProblem(digest), 'shape')
  assert.not(isApiKey(digest))
})

test.run()
