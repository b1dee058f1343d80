import { type Environment, readSecret } from './read-settings.ts'

/** Where traces are sent, by the variables that OpenTelemetry names (specification, "OTLP Exporter Configuration"). */
export interface TelemetrySettings {
  /** The address for POST. */
  readonly traces: string
  /** May hold keys. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds of one export with its repetitions. */
  readonly timeout: number
  /** The longest wait of a span: milliseconds. */
  readonly spanDelay: number
  /** `service.name` and other facts of this installation. */
  readonly resource: Readonly<Record<string, string>>
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
  const address = value('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (address === undefined || value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    warn('OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://127.0.0.1:4318; nothing is sent')
    return undefined
  }
  const traces = new URL(address)
  traces.pathname = `${traces.pathname.replace(/(?<!\/)\/+$/, '')}/v1/traces`
  const name = value('OTEL_SERVICE_NAME')
  return {
    traces: traces.href,
    headers: headers(readSecret('OTEL_EXPORTER_OTLP_HEADERS', environment)?.value ?? ''),
    timeout: milliseconds('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    spanDelay: milliseconds('OTEL_BSP_SCHEDULE_DELAY', 5_000),
    resource: {
      'service.name': 'aichat',
      ...pairs('OTEL_RESOURCE_ATTRIBUTES', value('OTEL_RESOURCE_ATTRIBUTES') ?? ''),
      ...(name !== undefined && { 'service.name': name }),
    },
  }

  function headers(text: string): Readonly<Record<string, string>> {
    const given = Object.entries(pairs('OTEL_EXPORTER_OTLP_HEADERS', text))
    const valid = given.filter(
      ([name, content]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(content),
    )
    if (valid.length < given.length) warn('OTEL_EXPORTER_OTLP_HEADERS holds an entry that is no header; it is left out')
    return Object.fromEntries(valid.map(([name, content]) => [name.toLowerCase(), content]))
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
