import { openHttpClient } from '../http-client/http-client.ts'
import type { Telemetry, TelemetryParts } from '../otlp/otlp.ts'

/**
 * The part of the composition root that sends traces; a service opens it where its operator names a collector. `ownPorts` are
 * those of this machine where this process serves the API.
 */
export async function openTelemetryArea(
  ownPorts: ReadonlySet<number>,
  parts: Omit<TelemetryParts, 'send'>,
): Promise<Telemetry> {
  const { openTelemetry } = await import('../otlp/telemetry.ts')
  // The operator's own setting names the collector, so its address may be private.
  const client = openHttpClient({ allowPrivate: true, ownPorts })
  const telemetry = openTelemetry({ ...parts, send: client.send })
  return {
    tracer: telemetry.tracer,
    async close() {
      await telemetry.close()
      await client.close()
    },
  }
}
