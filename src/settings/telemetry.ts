import { type Environment, readSecret } from './read-settings.ts'

/** Where traces and metrics are sent, by the variables that OpenTelemetry names (specification, "OTLP Exporter Configuration"). */
export interface TelemetrySettings {
  /** Addresses for POST; undefined for a signal that is not sent. */
  readonly traces: string | undefined
  readonly metrics: string | undefined
  /** May hold keys. */
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: Protocol
  readonly gzip: boolean
  /** Milliseconds of one export with its repetitions. */
  readonly timeout: number
  /** Milliseconds between two exports of metrics, and the longest wait of a span. */
  readonly metricInterval: number
  readonly spanDelay: number
  /** `service.name` and other facts of this installation. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerSettings
}

export type Protocol = 'http/protobuf' | 'http/json'

export interface SamplerSettings {
  /** Whether the decision of the caller's trace holds. */
  readonly parentBased: boolean
  /** The share of the traces that begin here, 0 to 1. */
  readonly ratio: number
}

/**
 * The settings of telemetry; undefined where none is sent. As OpenTelemetry asks, values that make no sense are told to `warn`
 * and count as absent: other programs of this machine may share the variables.
 */
export function readTelemetry(
  environment: Environment,
  warn: (message: string) => void,
): TelemetrySettings | undefined {
  const value = (name: string) => environment[name]?.trim() || undefined
  if (value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const base = value('OTEL_EXPORTER_OTLP_ENDPOINT')
  const traces = placeOf('TRACES', 'v1/traces')
  const metrics = placeOf('METRICS', 'v1/metrics')
  if (traces === undefined && metrics === undefined) return undefined
  return {
    traces,
    metrics,
    headers: headers(readSecret('OTEL_EXPORTER_OTLP_HEADERS', environment)?.value ?? ''),
    protocol: protocol(),
    gzip: value('OTEL_EXPORTER_OTLP_COMPRESSION') === 'gzip',
    timeout: milliseconds('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    metricInterval: milliseconds('OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    spanDelay: milliseconds('OTEL_BSP_SCHEDULE_DELAY', 5_000),
    resource: {
      ...pairs('OTEL_RESOURCE_ATTRIBUTES', value('OTEL_RESOURCE_ATTRIBUTES') ?? ''),
      ...serviceName(),
    },
    sampler: sampler(),
  }

  /** The address of a signal: its own as it is, or its path below the common one. */
  function placeOf(signal: string, path: string): string | undefined {
    if (value(`OTEL_${signal}_EXPORTER`) === 'none') return undefined
    const own = value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
    const address = own ?? base
    if (address === undefined) return undefined
    const name = own ? `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT` : 'OTEL_EXPORTER_OTLP_ENDPOINT'
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
      warn(`${name} must be an address such as http://127.0.0.1:4318; nothing is sent`)
      return undefined
    }
    const url = new URL(address)
    if (!own) url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`
    return url.href
  }

  function protocol(): Protocol {
    const asked = value('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf'
    if (asked === 'http/protobuf' || asked === 'http/json') return asked
    warn('OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; http/protobuf is used')
    return 'http/protobuf'
  }

  function headers(text: string): Readonly<Record<string, string>> {
    const given = Object.entries(pairs('OTEL_EXPORTER_OTLP_HEADERS', text))
    const valid = given.filter(
      ([name, content]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(content),
    )
    if (valid.length < given.length) warn('OTEL_EXPORTER_OTLP_HEADERS holds an entry that is no header; it is left out')
    return Object.fromEntries(valid.map(([name, content]) => [name.toLowerCase(), content]))
  }

  function serviceName(): Readonly<Record<string, string>> {
    const name = value('OTEL_SERVICE_NAME')
    if (name !== undefined) return { 'service.name': name }
    return value('OTEL_RESOURCE_ATTRIBUTES')?.includes('service.name=') ? {} : { 'service.name': 'aichat' }
  }

  /** `name=value` entries, separated by commas, with percent escapes. */
  function pairs(name: string, text: string): Readonly<Record<string, string>> {
    const found: Record<string, string> = {}
    for (const entry of text.split(',')) {
      const at = entry.indexOf('=')
      const key = entry.slice(0, at).trim()
      if (at > 0 && key !== '__proto__') found[key] = decoded(entry.slice(at + 1).trim())
      else if (entry.trim() !== '') warn(`${name} must hold entries such as name=value; one of them is left out`)
    }
    return found
  }

  function milliseconds(name: string, usual: number): number {
    const text = value(name)
    if (text === undefined) return usual
    const number = Number(text)
    if (Number.isInteger(number) && number >= 1 && number <= mostMilliseconds) return number
    warn(`${name} must be a number of milliseconds; ${usual} is used`)
    return usual
  }

  function sampler(): SamplerSettings {
    const asked = value('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
    const parentBased = asked.startsWith('parentbased_')
    const own = asked.replace('parentbased_', '')
    if (own === 'always_on') return { parentBased, ratio: 1 }
    if (own === 'always_off') return { parentBased, ratio: 0 }
    const ratio = Number(value('OTEL_TRACES_SAMPLER_ARG') ?? '1')
    if (own === 'traceidratio' && ratio >= 0 && ratio <= 1) return { parentBased, ratio }
    warn('OTEL_TRACES_SAMPLER or its argument makes no sense; all traces are kept')
    return { parentBased: true, ratio: 1 }
  }
}

/** A day: a timer takes no more than 24 of them. */
const mostMilliseconds = 86_400_000

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
