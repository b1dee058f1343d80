import * as assert from 'uvu/assert'
import { readTelemetry } from '../../src/settings/telemetry.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('settings of telemetry')

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const base = { [endpoint]: 'http://collector:4318/' }

test('nothing is sent without an address, or where that is asked for', () => {
  for (const environment of [
    {},
    { ...base, OTEL_SDK_DISABLED: 'True' },
    { ...base, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  ])
    assert.is(read(environment).settings, undefined)
})

test('an address of one signal is taken as it is, and the common one gets a path', () => {
  const places = (environment: Record<string, string>) => {
    const { settings, told } = read(environment)
    assert.equal(told, [])
    return [settings?.traces, settings?.metrics]
  }
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://own:1/x' }
  assert.equal(places(base), ['http://collector:4318/v1/traces', 'http://collector:4318/v1/metrics'])
  assert.equal(places({ [endpoint]: 'http://c/p//' }), ['http://c/p/v1/traces', 'http://c/p/v1/metrics'])
  assert.equal(places(own), ['https://own:1/x', undefined])
  assert.equal(places({ ...base, ...own }), ['https://own:1/x', 'http://collector:4318/v1/metrics'])
  assert.equal(places({ ...base, OTEL_TRACES_EXPORTER: 'none' }), [undefined, 'http://collector:4318/v1/metrics'])
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
  ['OTEL_METRIC_EXPORT_INTERVAL', '', ({ metricInterval }) => metricInterval, 60_000],
  ['OTEL_BSP_SCHEDULE_DELAY', '', ({ spanDelay }) => spanDelay, 5000],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', '', ({ protocol }) => protocol, 'http/protobuf'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', ({ protocol }) => protocol, 'http/json'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', ({ protocol }) => protocol, 'http/protobuf', true],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip', ({ gzip }) => gzip, true],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', '', ({ gzip }) => gzip, false],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Api-Key=a%20b,x=', ({ headers }) => headers, { 'api-key': 'a b', x: '' }],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,b c=2', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,b=%0a', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,=2', ({ headers }) => headers, { a: '1' }, true],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%', ({ headers }) => headers, { a: '%' }],
  ['OTEL_RESOURCE_ATTRIBUTES', '', ({ resource }) => resource, { 'service.name': 'aichat' }],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=1', ({ resource }) => resource, { a: '1', 'service.name': 'aichat' }],
  ['OTEL_RESOURCE_ATTRIBUTES', 'service.name=own', ({ resource }) => resource, { 'service.name': 'own' }],
  ['OTEL_SERVICE_NAME', 'named', ({ resource }) => resource, { 'service.name': 'named' }],
  ['OTEL_TRACES_SAMPLER', '', ({ sampler }) => sampler, { parentBased: true, ratio: 1 }],
  ['OTEL_TRACES_SAMPLER', 'always_off', ({ sampler }) => sampler, { parentBased: false, ratio: 0 }],
  ['OTEL_TRACES_SAMPLER', 'parentbased_always_off', ({ sampler }) => sampler, { parentBased: true, ratio: 0 }],
  ['OTEL_TRACES_SAMPLER', 'sometimes', ({ sampler }) => sampler, { parentBased: true, ratio: 1 }, true],
]

for (const [name, value, of, result, isTold] of rows)
  test(`${name}=${value} means ${JSON.stringify(result)}`, () => {
    const { settings, told } = read({ ...base, [name]: value })
    assert.equal(of(settings!), result)
    assert.is(told.length, isTold ? 1 : 0)
    for (const message of told) assert.ok(message.startsWith(name), message)
  })

test('a ratio from 0 to 1 is kept, and another one keeps all traces', () => {
  for (const [argument, ratio] of [
    ['0', 0],
    ['0.25', 0.25],
    ['1', 1],
    ['1.1', undefined],
    ['-0.1', undefined],
  ] as const) {
    const asked = { ...base, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: argument }
    const { settings, told } = read(asked)
    assert.equal(settings?.sampler, { parentBased: ratio === undefined, ratio: ratio ?? 1 })
    assert.is(told.length, ratio === undefined ? 1 : 0)
  }
})

function read(environment: Record<string, string>) {
  const told: string[] = []
  return { settings: readTelemetry(environment, (message) => told.push(message)), told }
}

test.run()
