import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import type { AppError } from '../../src/errors.ts'
import { readForm } from '../../src/server/multipart.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('forms')

let server: Server
let url = ''

test.before(async () => {
  server = createServer(async (request, response) => {
    const answer = await readForm(request, 100_000).then(
      (parts) => [...parts.values()].map((part) => [part.name, part.isFile, part.text()]),
      ({ code, message }: AppError) => `${code}: ${message}`,
    )
    response.end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

test.after(() => {
  server.closeAllConnections()
  server.close()
})

async function read(body: string, boundary = 'b') {
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return (await fetch(url, { method: 'POST', headers, body })).json() as Promise<unknown>
}

const partOf = (disposition: string, more = '', content = 'x') =>
  `--b\r\nContent-Disposition: form-data; ${disposition}${more}\r\n\r\n${content}\r\n`
const end = '--b--\r\n'
const parts = (count: number) => Array.from({ length: count }, (_, at) => partOf(`name="f${at}"`)).join('')
/** A header that fills those of a part, from its first line break to its last, to so many bytes. */
const filled = (size: number) =>
  `\r\nX: ${'x'.repeat(size - '\r\nContent-Disposition: form-data; name=f\r\nX: '.length)}`

const invalid = 'invalid: Invalid form'
const rows: readonly (readonly [what: string, body: string, answer: unknown, boundary?: string])[] = [
  ['no part', end, []],
  ['an empty body', '', []],
  [
    'a field and a file',
    `${partOf('name="a"')}${partOf('name=b; filename="f"')}${end}`,
    [
      ['a', false, 'x'],
      ['b', true, 'x'],
    ],
  ],
  ['words before the first part', `before\r\n${partOf('name="a"')}${end}`, [['a', false, 'x']]],
  ['a name twice', `${partOf('name="a"')}${partOf('name="a"', '', 'y')}${end}`, [['a', false, 'x']]],
  ['headers of 4,094 bytes', `${partOf('name=f', filled(4092))}${end}`, [['f', false, 'x']]],
  ['headers of one byte more', `${partOf('name=f', filled(4093))}${end}`, invalid],
  ['33 parts', `${parts(33)}${end}`, 'invalid: The form has more than 32 parts'],
  ['a boundary of 70 characters', `--${'b'.repeat(70)}--`, [], 'b'.repeat(70)],
  ['a boundary that is not there', `${parts(1)}${end}`, invalid, 'c'],
  ['no boundary', `${parts(1)}${end}`, invalid, ''],
  ['no end', parts(1), invalid],
  ['a part without headers', '--b\r\nx\r\n--b--', invalid],
  ['a part without a name', `${partOf('filename="f"')}${end}`, invalid],
  ['words behind a mark', `--bwords\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n${end}`, invalid],
]

for (const [what, body, answer, boundary] of rows)
  test(`with ${what}`, async () => {
    assert.equal(await read(body, boundary), answer)
  })

test('with 32 parts is read', async () => {
  assert.is(((await read(`${parts(32)}${end}`)) as unknown[]).length, 32)
})

test.run()
