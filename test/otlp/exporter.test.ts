import { ExportResultCode } from '@opentelemetry/core'
import * as assert from 'uvu/assert'
import type { HttpRequest, HttpResponse } from '../../src/http/send.ts'
import { createExporter, type ExporterParts } from '../../src/otlp/exporter.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the exporter of telemetry')

/** What the collector says: a status with its headers, or a failure on the way. */
type Reply = readonly [status: number, headers?: HttpResponse['headers']] | Error

const minute = 60_000
const reset = Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' })

/** Where a second try may succeed within the time, the exporter waits for it; a test ends the wait. */
const outcomes: readonly (readonly [what: string, reply: Reply, timeout: number, outcome: string])[] = [
  ['200', [200], minute, 'sent'],
  ['299', [299], minute, 'sent'],
  ['300', [300], minute, 'status 300'],
  ['199', [199], minute, 'status 199'],
  ['400', [400], minute, 'status 400'],
  ['500', [500], minute, 'status 500'],
  ['429', [429], minute, 'waits'],
  ['503', [503], minute, 'waits'],
  ['503 with less time than the first wait', [503], 900, 'status 503'],
  ['503 that names a later time', [503, { 'retry-after': '61' }], minute, 'status 503'],
  ['503 that names a time within', [503, { 'retry-after': '30' }], minute, 'waits'],
  ['503 that names no time', [503, { 'retry-after': 'soon' }], minute, 'waits'],
  ['a broken connection', reset, minute, 'waits'],
  ['a broken connection with too little time', reset, 900, 'ECONNRESET'],
  ['a failure without a code', new Error('no way'), 900, 'no way'],
]

for (const [what, reply, timeout, expected] of outcomes)
  test(`after ${what}: ${expected}`, async () => {
    const { exporter, end } = open([reply], { timeout })
    const result = exported(exporter)
    const ended = new Promise<string>((resolve) => setImmediate(() => setImmediate(() => resolve('waits'))))
    const first = await Promise.race([result, ended])
    assert.is(first, expected)
    end()
    if (first === 'waits') assert.match(await result, /abort/i)
  })

test('tells the first failure and the first success after it, once each', async () => {
  const { exporter, told } = open([[400], [400], [200], [200]])
  for (let count = 0; count < 4; count++) await exported(exporter)
  assert.equal(told, ['Traces cannot be sent; chats go on: status 400', 'Traces are sent again'])
})

test('sends as the settings say, with the type in the headers', async () => {
  const { exporter, sent } = open([[200]], { headers: { 'x-own': '1' } })
  await exported(exporter)
  const [{ headers, body, timeouts }] = sent as [HttpRequest]
  assert.equal(headers, { 'content-type': 'application/x-protobuf', 'x-own': '1' })
  assert.instance(body, Uint8Array)
  assert.equal(timeouts, { connect: minute, firstByte: minute, idle: minute })
})

function open(replies: readonly Reply[], settings: Partial<ExporterParts['settings']> = {}) {
  const [left, sent, told] = [[...replies], [] as HttpRequest[], [] as string[]]
  const stopping = new AbortController()
  const exporter = createExporter({
    settings: { traces: 'http://collector.test/v1/traces', headers: {}, timeout: minute, ...settings },
    async send(request) {
      sent.push(request)
      const reply = left.shift()!
      if (reply instanceof Error) throw reply
      const [status, headers = {}] = reply
      return { status, headers, discard: () => {} } as HttpResponse
    },
    signal: stopping.signal,
    tell: (message, { reason }) => told.push(reason === undefined ? message : `${message}: ${reason}`),
  })
  return { exporter, sent, told, end: () => stopping.abort() }
}

function exported(exporter: ReturnType<typeof createExporter>): Promise<string> {
  return new Promise((resolve) =>
    exporter.export([], ({ code, error }) => resolve(code === ExportResultCode.SUCCESS ? 'sent' : error!.message)),
  )
}

test.run()
