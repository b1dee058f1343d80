import type { Crew } from '../app/app.ts'
import type { MetricSource } from '../metrics/metrics.ts'
import { whileUnderWay } from '../process/process.ts'
import type { Snapshot } from './metrics.ts'

/** The workers of a service: their state, memory and processor time. */
export function workerMetrics(crew: Crew): readonly MetricSource[] {
  /** Read once for all metrics that are collected at the same time. */
  const read = whileUnderWay(() => crew.workers())
  type Worker = Awaited<ReturnType<Crew['workers']>>[number]
  const metric = (
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    value: (worker: Worker) => number,
  ): MetricSource => ({
    ...{ type, name: `aichat_worker_${name}`, help },
    values: async () =>
      (await read()).map((worker) => ({ labels: { worker: String(worker.worker) }, value: value(worker) })),
  })
  const isUp = ({ phase }: Worker) => (phase === 'ready' ? 1 : 0)
  return [
    metric('gauge', 'up', 'Whether a worker serves: 0 while it starts, or is started anew.', isUp),
    metric('counter', 'restarts_total', 'Processes that ended in the place of a worker.', (each) => each.restarts),
    metric('gauge', 'connections', 'Connections of clients at a worker.', (each) => each.connections),
    metric('gauge', 'resident_memory_bytes', 'Resident memory of a worker.', (each) => each.memory_bytes),
    metric('counter', 'cpu_seconds_total', 'User and system time of a worker.', (each) => each.cpu_seconds),
  ]
}

/** The counts of ended processes, for counters: a counter that falls is read as one that began again. */
export function countsOf(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram')
}
