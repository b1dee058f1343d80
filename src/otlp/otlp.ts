/**
 * Sends spans to an OpenTelemetry collector.
 * Uses: `telemetry` for what is measured; OpenTelemetry.
 * Begin with: `telemetry.ts`.
 */
export type { Telemetry, TelemetryParts } from './telemetry.ts'
