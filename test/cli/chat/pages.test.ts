// Some with --all only: many processes.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { addressRange } from '../../../src/http/address-range.ts'
import { closing } from '../../helpers/disposal.ts'
import { openStandIn, type Received, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { type Asking, namesOf, openAsking } from './asked-files.ts'
import { pdfOf } from './pdf-file.ts'

const test = suite('aichat chat -f, of pages of the web')
const sentence = 'The main text of the page has a sentence that goes on for a while, as articles do. '
const article = `<!doctype html><html><head><title>Rain &amp; "wind"</title></head><body>
<nav><a href="/">Home</a> <a href="/x">Menu entry</a></nav>
<article><h1>Rain</h1>${`<p>${sentence.repeat(4)}</p>`.repeat(4)}<ul><li>one</li><li>two</li></ul>
<script>track()</script><pre>a
  b</pre></article><footer>Imprint</footer></body></html>`

test.whole('a page gives its title and main text, under its address', () =>
  serving(html(article), async ({ ask, site }) => {
    const { code, parts, stderr } = await ask([`${site.url}/rain#part`])
    assert.is(code, 0, stderr)
    const { text } = parts[0]!
    assert.match(text!, new RegExp(`^<file url="${site.url}/rain" title="Rain &amp; &quot;wind&quot;">\n`))
    for (const expected of [/The main text/, /\n- one\n- two\n/, /a\n {2}b/]) assert.match(text!, expected)
    for (const absent of [/Menu entry/, /track/, /Imprint/, /<p>/]) assert.not.match(text!, absent)
    assert.match(stderr, /aichat: 1 file, .*\n {2}http\S+\/rain \(text\/html, /)
    assert.is(site.received[0]!.headers['cookie'], undefined)
  }),
)

test('text, JSON, PDFs and pictures come as what they are, other types are refused by name', () =>
  serving(
    ({ url }, response) => {
      const [type, body] = {
        '/a.json': ['application/json', '{"a":1}'],
        '/a.pdf': ['application/octet-stream', pdfOf(['From the web'])],
        '/a.png': ['image/png', Buffer.from('89504e470d0a1a0a', 'hex')],
        '/latin': ['text/plain; charset=ISO-8859-1', Buffer.from('gr\xfcn', 'latin1')],
        '/old': ['text/html', Buffer.from('<meta charset="iso-8859-1"><p>gr\xfcn</p>', 'latin1')],
        '/slip': ['text/html', Buffer.from('<p>one \xff slip</p>', 'latin1')],
        '/zip': ['application/zip', Buffer.from('504b030400', 'hex')],
      }[url] as [string, string | Buffer]
      response.writeHead(200, { 'content-type': type })
      response.end(body)
    },
    async ({ ask, site }) => {
      const names = ['a.json', 'a.pdf', 'a.png', 'latin', 'old', 'slip']
      const { parts, stderr } = await ask(names.map((name) => `${site.url}/${name}`))
      assert.equal(
        namesOf(parts),
        names.map((name) => `${site.url}/${name}`),
        stderr,
      )
      const texts = parts.map(({ text }) => text ?? '')
      for (const [index, expected] of [
        /"a":1/,
        /From the web/,
        /image\/png/,
        /^$/,
        /grün/,
        /grün/,
        /one \ufffd slip/,
      ].entries())
        assert.match(texts[index]!, expected)
      const { code, stderr: refused } = await ask([`${site.url}/zip`])
      assert.is(code, 65)
      assert.match(refused, /\/zip is neither text, a PDF nor an image .*application\/zip/)
    },
  ))

test.whole('a page of 50 MB is refused with the limit, told or not, packed or not', () =>
  serving(
    async ({ url }, response) => {
      const size = 50 * 1024 * 1024
      if (url === '/told') response.writeHead(200, { 'content-type': 'text/html', 'content-length': size })
      if (url === '/packed') {
        response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        return void response.end(gzipSync(Buffer.alloc(size, 'a')))
      }
      response.write(Buffer.alloc(11 * 1024 * 1024, 'a'))
    },
    async ({ ask, site }) => {
      for (const path of ['told', 'endless', 'packed']) {
        const { code, stderr, parts } = await ask([`${site.url}/${path}`])
        assert.equal([code, parts], [65, []], stderr)
        assert.match(stderr, new RegExp(`/${path} is larger than 10 MiB`))
      }
    },
  ),
)

test('redirects are followed five times, to pages alone', () =>
  serving(
    ({ url }, response) => {
      const left = Number(url.slice(1))
      if (left === 0) return html(article)({ url } as Received, response)
      response.writeHead(302, { location: left === 99 ? 'file:///etc/passwd' : `/${left - 1}` })
      response.end()
    },
    async ({ ask, site }) => {
      assert.equal(namesOf((await ask([`${site.url}/5`])).parts), [`${site.url}/0`])
      const many = await ask([`${site.url}/6`])
      assert.is(many.code, 69)
      assert.match(many.stderr, /redirects more than 5 times/)
      assert.match((await ask([`${site.url}/99`])).stderr, /redirects to an address that is not followed/)
    },
  ))

test('a redirect from another machine to this one is refused, while the user may name this one', async () => {
  const outer = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal && addressRange(one.address) !== 'forbidden')?.address
  // A machine without a network has no address to be redirected from.
  if (outer === undefined) return
  await using home = closing(await openAsking())
  await using site = closing(
    createServer((_request, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/private' })
      response.end()
    }),
  )
  site.listen(0, outer)
  await once(site, 'listening')
  const { port } = site.address() as AddressInfo
  const { code, stderr } = await home.ask([`http://${outer}:${port}/`])
  assert.is(code, 78)
  assert.match(stderr, /redirects to 127\.0\.0\.1:1, an address inside your network/)
})

test.whole('a page that is missing, fails, nests without end or cannot be reached is an error with its exit code', () =>
  serving(
    ({ url }, response) => {
      if (url === '/deep') return html('<div>'.repeat(100_000))({ url } as Received, response)
      if (url === '/empty') return html('<script>write()</script>')({ url } as Received, response)
      response.writeHead(url === '/gone' ? 404 : 500)
      response.end()
    },
    async ({ ask, site }) => {
      for (const [address, code, reason] of [
        [`${site.url}/gone`, 66, /was not found \(status 404\)/],
        [`${site.url}/down`, 69, /answered with status 500/],
        [`${site.url}/deep`, 65, /nests too deep|takes more than 10 seconds to read/],
        [`${site.url}/empty`, 65, /holds no text/],
        ['http://127.0.0.1:9/', 69, /cannot be read\n.*connection refused/],
        ['http://169.254.169.254/latest', 78, /never called/],
        ['http://user:secret@127.0.0.1/', 64, /holds a user name or password/],
        ['http://', 64, /is no address of a page/],
      ] as const) {
        const { code: exit, stderr } = await ask([address])
        assert.is(exit, code, stderr)
        assert.match(stderr, reason)
        assert.not.match(stderr, /secret/)
      }
    },
  ),
)

test.run()

function html(body: string) {
  return (_request: Received, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(body)
  }
}

async function serving(
  answer: (request: Received, response: ServerResponse) => void | Promise<void>,
  run: (parts: Asking & { readonly site: StandIn }) => Promise<void>,
): Promise<void> {
  const site = await openStandIn(answer)
  const asking = await openAsking()
  try {
    await run({ ...asking, site })
  } finally {
    await asking.close()
    await site.close()
  }
}
