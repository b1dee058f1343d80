import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

/** A span as the protobuf has it, with its resource. */
export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  /** Lower-case hexadecimal. */
  readonly trace: string
  readonly id: string
  readonly parent: string
  readonly error: boolean
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

/** A collector of OpenTelemetry on loopback. */
export interface Collector {
  readonly url: string
  /** Path and headers of each request. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** All received data as text, to search for content that must not be in it. */
  readonly raw: readonly string[]
  readonly spans: readonly ReceivedSpan[]
  /**
   * Resolves with the result of `find` once there is one; `find` is called after each request. The runner bounds a file's
   * time.
   */
  until<T>(find: (collector: Collector) => T | undefined): Promise<T>
  close(): Promise<void>
}

/** Answers in place of the collector's 200; true where it has. */
export type Refuse = (response: ServerResponse, count: number) => boolean

export async function openCollector(refuse: Refuse = () => false): Promise<Collector> {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  const raw: string[] = []
  const spans: ReceivedSpan[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const bytes = Buffer.concat(pieces)
    requests.push({ path: request.url!, headers: request.headers })
    raw.push(bytes.toString('latin1'))
    if (!refuse(response, requests.length)) {
      spans.push(...spansIn(fromProtobuf('ExportTraceServiceRequest', bytes)))
      response.writeHead(200, { 'content-type': request.headers['content-type'] }).end()
    }
    for (const check of waiting) check()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    raw,
    spans,
    until: (find) =>
      new Promise((resolve) => {
        const check = () => {
          const found = find(collector)
          if (found === undefined) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return collector
}

// biome-ignore lint/suspicious/noExplicitAny: messages of any shape, as the definitions say
type Message = any

const definitions = readFileSync(
  fileURLToPath(new URL('./test/server/otlp.proto', import.meta.resolve('#package'))),
  'utf8',
)
const { root } = protobuf.parse(definitions)

/** Decodes a message of OpenTelemetry's definitions. Throws where the bytes do not fit them. */
function fromProtobuf(name: string, bytes: Buffer): Message {
  const type = root.lookupType(name)
  return type.toObject(type.decode(bytes), { longs: Number, bytes: String })
}

function spansIn({ resourceSpans = [] }: Message): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Message) =>
    scopeSpans.flatMap(({ spans }: Message) =>
      spans.map((span: Message) => ({
        name: span.name,
        kind: span.kind,
        trace: hex(span.traceId),
        id: hex(span.spanId),
        parent: hex(span.parentSpanId ?? ''),
        error: span.status?.code === 2,
        attributes: attributesIn(span.attributes),
        resource: attributesIn(resource.attributes),
      })),
    ),
  )
}

function attributesIn(list: Message[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueIn(value)]))
}

function valueIn(value: Message): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(valueIn)
  const [content] = Object.values(value)
  return 'intValue' in value ? Number(content) : content
}

function hex(id: string): string {
  return Buffer.from(id, 'base64').toString('hex')
}
