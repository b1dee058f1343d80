import * as assert from 'uvu/assert'
import { contentOfResult } from '../../src/mcp-client/result-content.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the result of a tool as parts of a message')

const text = (words: string) => ({ type: 'text', text: words })
const image = (type: string) => ({ type: 'image_url', image_url: { url: `data:${type};base64,AAAA` } })

const parts: readonly (readonly [what: string, given: object, read: object])[] = [
  ['a text', { type: 'text', text: 'Hi' }, text('Hi')],
  ['a picture', { type: 'image', data: 'AAAA', mimeType: 'image/png' }, image('image/png')],
  ['a type in capitals', { type: 'image', data: 'AAAA', mimeType: 'IMAGE/JPEG; q=1' }, image('image/jpeg')],
  ['a drawing', { type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' }, text('[image image/svg+xml]')],
  ['no base64', { type: 'image', data: '<svg>', mimeType: 'image/png' }, text('[image image/png]')],
  ['no type', { type: 'image', data: 'AAAA' }, text('[image]')],
  [
    'a sound',
    { type: 'audio', data: 'AAAA', mimeType: 'audio/mpeg' },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
  ],
  ['another sound', { type: 'audio', data: 'AAAA', mimeType: 'audio/ogg' }, text('[audio audio/ogg]')],
  ['a resource with text', { type: 'resource', resource: { uri: 'a:b', text: 'Words' } }, text('Words')],
  [
    'a resource with a picture',
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'image/webp', blob: 'AAAA' } },
    image('image/webp'),
  ],
  [
    'a resource with a PDF file',
    { type: 'resource', resource: { uri: 'file:///a/plan.pdf', mimeType: 'application/pdf', blob: 'AAAA' } },
    { type: 'file', file: { filename: 'plan.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
  ],
  [
    'a resource of another kind',
    { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/zip', blob: 'AAAA' } },
    text('[resource application/zip a:b]'),
  ],
  ['a link', { type: 'resource_link', uri: 'a:b', mimeType: 'image/png' }, text('[resource_link image/png a:b]')],
]

for (const [what, given, read] of parts)
  test(what, () => assert.equal(contentOfResult({ content: [given] }), { content: [read], isError: false }))

test('a result without content is its structured form', () => {
  assert.equal(contentOfResult({ structuredContent: { a: 1 } }).content, [text('{"a":1}')])
  assert.equal(contentOfResult({ content: [{ type: 'text', text: '' }] }).content, [text('(no output)')])
})

test.run()
