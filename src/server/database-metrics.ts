import type { App } from '../app/app.ts'
import { databaseState, instanceName } from '../app/instance.ts'
import type { MetricSource } from '../telemetry/metric-source.ts'

/** The database that instances share; nothing for the one of the data folder. */
export function databaseMetrics(app: Pick<App, 'database' | 'ownPorts'>): readonly MetricSource[] {
  if (!app.database) return []
  return [
    {
      type: 'gauge',
      name: 'aichat_database_up',
      together: 'min',
      help: 'Whether the database that instances share answers this one.',
      values: () => {
        const { name, reachable } = databaseState(app)!
        return [{ labels: { database: name, instance_name: instanceName(app) }, value: reachable ? 1 : 0 }]
      },
    },
  ]
}
