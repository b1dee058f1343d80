// Some with --all only: many processes.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import * as assert from 'uvu/assert'
import { readTls } from '../../src/server/tls.ts'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openHome } from '../helpers/program/command.ts'
import { removeHome, serveHere, spawnDaemon } from '../helpers/program/daemon.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const inner = suite('a service that speaks https itself')
const test = haveProgram('openssl') ? inner : inner.skip

test('answers over TLS 1.2 and 1.3 alone, in HTTP/1.1, and tells browsers to stay', () =>
  withHttps(async ({ url, ca, port }) => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { status, headers } = await get(`${url}/health`, ca, { minVersion: version, maxVersion: version })
      assert.is(status, 200)
      assert.is(headers['strict-transport-security'], 'max-age=31536000')
    }
    for (const old of ['TLSv1', 'TLSv1.1'] as const)
      assert.match(
        await handshake({ port, ca, minVersion: old, maxVersion: old, ciphers: 'ALL:@SECLEVEL=0' }),
        /alert|version/i,
      )
    assert.is(await handshake({ port, ca, ALPNProtocols: ['h2', 'http/1.1'] }), 'http/1.1')
    assert.is(await fetch(`http://127.0.0.1:${port}/health`).catch(() => 'no plain http'), 'no plain http')
    const { body } = await get(`${url}/api/auth/me`, ca)
    assert.match(body, `aichat --server ${url} setup`)
  }))

test.whole('commands reach it with the authority in NODE_EXTRA_CA_CERTS, and say so without', () =>
  withHttps(async ({ url, folder }) => {
    using home = openHome()
    // In this process, which does not know the authority either.
    const folders = { AICHAT_HOME: home.folder, HOME: home.folder }
    const strange = await runMain(['--server', url, 'status'], { environment: folders })
    assert.is(strange.code, 69)
    assert.match(strange.stderr, /signed by no authority[\s\S]*NODE_EXTRA_CA_CERTS/)
    const environment = { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') }
    const known = await home.aichat(['--server', url, 'status'], { environment })
    assert.is(known.code, 77)
    assert.match(known.stderr, /A token is missing/)
  }),
)

test.whole('a new certificate is used from the reload on, and a bad pair leaves the old one', () =>
  // A reload is a signal to the service: it has a process of its own.
  withHttps(async ({ url, folder, ca, reload }) => {
    makeCertificate(folder, 'other')
    writeFileSync(join(folder, 'cert.pem'), readFileSync(join(folder, 'other.pem')))
    const mixed = await reload()
    assert.is(mixed.code, 78)
    assert.match(mixed.stderr, /key values mismatch/)
    assert.is((await get(`${url}/health`, ca)).status, 200)
    writeFileSync(join(folder, 'key.pem'), readFileSync(join(folder, 'other-key.pem')))
    assert.is((await reload()).code, 0)
    assert.is((await get(`${url}/health`, readFileSync(join(folder, 'other.pem')))).status, 200)
    const refused = await get(`${url}/health`, ca).catch((reason: Error) => reason)
    assert.match((refused as Error).message, /self.signed|signature/i)
  }, spawnDaemon),
)

test('files that cannot be used are refused with both names and the reason', async () => {
  const folder = temporaryFolder()
  makeCertificate(folder, 'cert')
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'cert-key.pem') }
  const bad = (cert: string, key: string, reason: RegExp) =>
    rejects(
      Promise.resolve().then(() => readTls({ cert, key })),
      'configuration',
      reason,
    )
  await bad('/nowhere/a', files.key, /ENOENT.*nowhere\/a/)
  await bad(folder, files.key, /EISDIR/)
  await bad(files.key, files.key, /cannot be used/)
  await bad(files.cert, files.cert, /cannot be used/)
  writeFileSync(join(folder, 'empty'), '')
  await bad(files.cert, join(folder, 'empty'), /cannot be used/)
  for (const words of [
    ['--tls-cert', files.cert],
    ['--tls-key', files.key],
  ]) {
    const { code, stderr } = await runMain(['serve', 'api', '--port', '0', ...words], {
      environment: { AICHAT_HOME: folder, HOME: folder },
    })
    assert.equal([code, stderr], [64, 'aichat: --tls-cert and --tls-key belong together\n'])
  }
})

inner.run()

interface Https {
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly ca: Buffer
  reload(): ReturnType<typeof runMain>
}

/** Runs work on a daemon with a certificate for 127.0.0.1 that it signed itself. */
async function withHttps(
  work: (https: Https) => Promise<void>,
  start: typeof serveHere | typeof spawnDaemon = serveHere,
): Promise<void> {
  const folder = temporaryFolder()
  makeCertificate(folder, 'cert')
  writeFileSync(join(folder, 'key.pem'), readFileSync(join(folder, 'cert-key.pem')), { mode: 0o600 })
  const daemon = await start(
    { AICHAT_TLS_CERT: join(folder, 'cert.pem'), AICHAT_TLS_KEY: join(folder, 'key.pem') },
    folder,
  )
  const ca = readFileSync(join(folder, 'cert.pem'))
  try {
    assert.match(daemon.url, /^https:/)
    await work({
      url: daemon.url,
      port: Number(new URL(daemon.url).port),
      folder,
      ca,
      reload: () => runMain(['service', 'reload'], { environment: { AICHAT_HOME: folder, HOME: folder } }),
    })
  } finally {
    assert.is(await daemon.stop(), 0)
    removeHome(daemon)
  }
}

function makeCertificate(folder: string, name: string): void {
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'],
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'],
      ...['-keyout', join(folder, `${name}-key.pem`), '-out', join(folder, `${name}.pem`)],
    ],
    { encoding: 'utf8' },
  )
  assert.is(status, 0, stderr)
}

async function get(url: string, ca: Buffer, options: ConnectionOptions = {}) {
  const asked = request(url, { ...options, ca, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let body = ''
  for await (const piece of response) body += piece
  return { status: response.statusCode, headers: response.headers, body }
}

/** The protocol that a handshake agrees on, or the reason that there is none. */
async function handshake(options: ConnectionOptions): Promise<string> {
  let socket: TLSSocket | undefined
  try {
    socket = connect({ host: '127.0.0.1', ...options })
    await once(socket, 'secureConnect')
    return String(socket.alpnProtocol)
  } catch (reason) {
    return (reason as Error).message
  } finally {
    socket?.destroy()
  }
}
