import { openHttpClient } from '../http-client/http-client.ts'
import type { TelemetryParts } from '../otlp/otlp.ts'
import type { Tracer } from '../telemetry/telemetry.ts'

/** Traces and metrics on their way to a collector. */
export interface TelemetryArea {
  readonly tracer: Tracer | undefined
  /** Sends the remaining data, within a time limit. */
  close(): Promise<void>
}

export interface TelemetryAreaParts extends Omit<TelemetryParts, 'send'> {
  /** Ports of this machine where this process serves the API. */
  readonly ownPorts: ReadonlySet<number>
}

/** The part of the composition root that sends telemetry; a service opens it where its operator names a collector. */
export async function openTelemetryArea({ ownPorts, ...parts }: TelemetryAreaParts): Promise<TelemetryArea> {
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
