import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'
import * as assert from 'uvu/assert'
import { metricProducer } from '../../src/otlp/metrics.ts'
import type { MetricSource } from '../../src/telemetry/metric-source.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('metrics for OTLP')

const labels = { gen_ai_request_model: 'm', other: 'x' }
const dotted = { 'gen_ai.request.model': 'm', other: 'x' }
const number = { help: 'Help.', values: () => [{ labels, value: 3 }] }

const sources: readonly MetricSource[] = [
  { ...number, type: 'counter', name: 'aichat_requests_total' },
  { ...number, type: 'gauge', name: 'aichat_bytes', unit: 'By' },
  {
    type: 'histogram',
    name: 'gen_ai_duration_seconds',
    conventional: 'gen_ai.duration',
    help: 'Help.',
    unit: 's',
    bounds: [1, 2],
    values: () => [{ labels, histogram: { counts: [1, 0, 2], sum: 7.5 } }],
  },
]

test('are the counts as they are, with their unit, and with dots only where a convention names them', async () => {
  const metrics = await collected(sources)
  assert.equal(
    metrics.map(({ descriptor: { name, unit }, dataPointType, dataPoints: [point] }) => ({
      ...{ name, unit, dataPointType },
      attributes: point!.attributes,
      value: point!.value,
    })),
    [
      { name: 'aichat_requests_total', unit: '1', dataPointType: DataPointType.SUM, attributes: labels, value: 3 },
      { name: 'aichat_bytes', unit: 'By', dataPointType: DataPointType.GAUGE, attributes: labels, value: 3 },
      {
        ...{ name: 'gen_ai.duration', unit: 's', dataPointType: DataPointType.HISTOGRAM, attributes: dotted },
        value: { buckets: { boundaries: [1, 2], counts: [1, 0, 2] }, sum: 7.5, count: 3 },
      },
    ],
  )
  for (const metric of metrics) {
    assert.is(metric.aggregationTemporality, AggregationTemporality.CUMULATIVE)
    assert.is(
      metric.dataPointType === DataPointType.SUM && metric.isMonotonic,
      metric.descriptor.name.endsWith('total'),
    )
  }
})

test('one without values is left out, and one that fails is told and costs no other', async () => {
  const failure = new Error('no number')
  const failing: MetricSource = { ...number, type: 'gauge', name: 'failing', values: () => Promise.reject(failure) }
  const empty: MetricSource = { ...number, type: 'gauge', name: 'empty', values: () => [] }
  const metrics = await collected([failing, empty, sources[0]!], [failure])
  assert.equal(
    metrics.map(({ descriptor }) => descriptor.name),
    ['aichat_requests_total'],
  )
})

async function collected(given: readonly MetricSource[], expectedErrors: readonly unknown[] = []) {
  const producer = metricProducer(() => given, { name: 'aichat', version: '1' })
  const { resourceMetrics, errors } = await producer.collect()
  assert.equal(errors, expectedErrors)
  const [{ metrics }] = resourceMetrics.scopeMetrics as [(typeof resourceMetrics.scopeMetrics)[number]]
  return metrics
}

test.run()
