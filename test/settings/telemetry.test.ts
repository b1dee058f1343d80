import * as assert from 'uvu/assert'
import { readTelemetry } from '../../src/settings/telemetry.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('settings of telemetry')

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const base = { [endpoint]: 'http://collector:4318/' }

test('nothing is sent without an address, or where that is asked for', () => {
  for (const environment of [{}, { ...base, OTEL_SDK_DISABLED: 'True' }])
    assert.is(read(environment).settings, undefined)
})

test('the address gets the path of traces', () => {
  for (const [address, traces] of [
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['http://c/p//', 'http://c/p/v1/traces'],
  ] as const)
    assert.is(read({ [endpoint]: address }).settings?.traces, traces)
})

type Settings = NonNullable<ReturnType<typeof readTelemetry>>

/** A variable, its value, what it means, and whether it is told as one that makes no sense. */
const rows: readonly (readonly [
  name: string,
  value: string,
  of: (settings: Settings) => unknown,
  result: unknown,
  isTold?: true,
])[] = [
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '', ({ timeout }) => timeout, 10_000],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '1', ({ timeout }) => timeout, 1],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '86400000', ({ timeout }) => timeout, 86_400_000],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '86400001', ({ timeout }) => timeout, 10_000, true],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', ({ timeout }) => timeout, 10_000, true],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '1.5', ({ timeout }) => timeout, 10_000, true],
  ['OTEL_BSP_SCHEDULE_DELAY', '', ({ spanDelay }) => spanDelay, 5000],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Api-Key=a%20b,x=', ({ headers }) => headers, { 'api-key': 'a b', x: '' }],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,b c=2', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,b=%0a', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,=2', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%', ({ headers }) => headers, { a: '%' }],
  ['OTEL_RESOURCE_ATTRIBUTES', '', ({ resource }) => resource, { 'service.name': 'aichat' }],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=1', ({ resource }) => resource, { a: '1', 'service.name': 'aichat' }],
  ['OTEL_RESOURCE_ATTRIBUTES', 'service.name=own', ({ resource }) => resource, { 'service.name': 'own' }],
  ['OTEL_SERVICE_NAME', 'named', ({ resource }) => resource, { 'service.name': 'named' }],
]

for (const [name, value, of, result, isTold] of rows)
  test(`${name}=${value} means ${JSON.stringify(result)}`, () => {
    const { settings, told } = read({ ...base, [name]: value })
    assert.equal(of(settings!), result)
    assert.is(told.length, isTold ? 1 : 0)
    for (const message of told) assert.ok(message.startsWith(name), message)
  })

function read(environment: Record<string, string>) {
  const told: string[] = []
  return { settings: readTelemetry(environment, (message) => told.push(message)), told }
}

test.run()
