import type { Crew } from '../app/app.ts'
import type { MetricSource, MetricValue } from '../metrics/metrics.ts'
import { whileUnderWay } from '../process/process.ts'
import type { Snapshot } from './metrics.ts'

/** The workers of a service: their state, memory and processor time. */
export function workerMetrics(crew: Crew): readonly MetricSource[] {
  /** Read once for all metrics that are collected at the same time. */
  const read = whileUnderWay(() => crew.workers())
  type Worker = Awaited<ReturnType<Crew['workers']>>[number]
  const each =
    (value: (worker: Worker) => number): (() => Promise<readonly MetricValue[]>) =>
    async () =>
      (await read()).map((worker) => ({ labels: { worker: String(worker.worker) }, value: value(worker) }))
  return [
    {
      type: 'gauge',
      name: 'aichat_worker_up',
      help: 'Whether a worker serves: 0 while it starts, or is started anew.',
      values: each(({ phase }) => (phase === 'ready' ? 1 : 0)),
    },
    {
      type: 'counter',
      name: 'aichat_worker_restarts_total',
      help: 'Processes that ended in the place of a worker.',
      values: each(({ restarts }) => restarts),
    },
    {
      type: 'gauge',
      name: 'aichat_worker_connections',
      help: 'Connections of clients at a worker.',
      values: each(({ connections }) => connections),
    },
    {
      type: 'gauge',
      name: 'aichat_worker_resident_memory_bytes',
      help: 'Resident memory of a worker.',
      values: each(({ memory_bytes: bytes }) => bytes),
    },
    {
      type: 'counter',
      name: 'aichat_worker_cpu_seconds_total',
      help: 'User and system time of a worker that runs now.',
      values: each(({ cpu_seconds: seconds }) => seconds),
    },
  ]
}

/**
 * The counts of ended processes, which counters of the service include: a counter that falls would be read as one that
 * began again. Gauges end with their process.
 */
export function countsOf(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram')
}
