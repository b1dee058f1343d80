import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { MetricSource } from '../telemetry/telemetry.ts'

/** Reads the metrics of a service for OTLP: the same counts that Prometheus scrapes, since the process began. */
export function metricProducer(
  sources: () => readonly MetricSource[],
  scope: { readonly name: string; readonly version: string },
): MetricProducer {
  const startTime = millisToHrTime(Math.round(performance.timeOrigin))
  return {
    async collect(): Promise<CollectionResult> {
      const endTime = millisToHrTime(Date.now())
      const errors: unknown[] = []
      const metrics: MetricData[] = []
      for (const source of sources()) {
        try {
          metrics.push(await dataOf(source, startTime, endTime))
        } catch (reason) {
          errors.push(reason)
        }
      }
      const scopeMetrics = [{ scope, metrics: metrics.filter(({ dataPoints }) => dataPoints.length > 0) }]
      // The reader puts the resource of the service in its place.
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors }
    },
  }
}

async function dataOf(source: MetricSource, startTime: HrTime, endTime: HrTime): Promise<MetricData> {
  const { name, conventional = name, help, unit = '1' } = source
  const base = {
    descriptor: { name: conventional, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (source.type === 'histogram')
    return {
      ...base,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: source.values().map(({ labels, histogram: { counts, sum } }) => ({
        ...{ startTime, endTime, attributes: attributesOf(labels, conventional !== name) },
        value: {
          buckets: { boundaries: [...source.bounds], counts: [...counts] },
          sum,
          count: counts.reduce((all, count) => all + count, 0),
        },
      })),
    }
  const dataPoints = (await source.values()).map(({ labels, value }) => ({
    ...{ startTime, endTime, attributes: attributesOf(labels, conventional !== name) },
    value,
  }))
  if (source.type === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
}

/** Prometheus knows no dots: the names of the conventions, such as `gen_ai.request.model`, get theirs back. */
function attributesOf(labels: Readonly<Record<string, string>>, isConventional: boolean): Attributes {
  if (!isConventional) return labels
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [dotted[name] ?? name, value]))
}

const dotted: Readonly<Record<string, string>> = {
  gen_ai_operation_name: 'gen_ai.operation.name',
  gen_ai_provider_name: 'gen_ai.provider.name',
  gen_ai_request_model: 'gen_ai.request.model',
  gen_ai_token_modality: 'gen_ai.token.modality',
}
