/**
 * Sends metrics and spans to an OpenTelemetry collector.
 * Uses: `telemetry` for what is measured; OpenTelemetry.
 * Begin with: `telemetry.ts`.
 */
export type { TelemetryParts } from './telemetry.ts'
