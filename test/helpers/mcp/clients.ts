import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientOfV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioOfV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpOfV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** The client libraries and protocols under test: both SDKs, and the newer one in the protocol of 2026. */
export const clientKinds = ['v1', 'v2', 'v2 in 2026'] as const
export type ClientKind = (typeof clientKinds)[number]

/** The parts of the two SDKs' clients that the tests use. */
export interface TestClient {
  listTools(): Promise<{ readonly tools: readonly ListedTool[] }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<Called>
  close(): Promise<void>
}

export interface ListedTool {
  readonly name: string
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly outputSchema?: object
}

export interface Called {
  readonly isError?: boolean
  readonly content?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly structuredContent?: any
}

export interface ServerCommand {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

/** Starts a server and connects to it. */
export async function openStdioClient(kind: ClientKind, command: ServerCommand): Promise<TestClient> {
  const parts = { ...command, stderr: 'pipe' as const }
  if (kind === 'v1') return connected(newV1(), (client) => client.connect(new StdioOfV1(parts)))
  return connected(newV2(kind), (client) => client.connect(new StdioClientTransport(parts)))
}

/** Connects to a server over HTTP with a bearer token, as `--header "Authorization: Bearer …"` does. */
export async function openHttpClient(
  kind: ClientKind,
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<TestClient> {
  const parts = { requestInit: { headers: { ...headers, authorization: `Bearer ${token}` } } }
  if (kind === 'v1') return connected(newV1(), (client) => client.connect(new HttpOfV1(new URL(url), parts) as never))
  return connected(newV2(kind), (client) => client.connect(new StreamableHTTPClientTransport(new URL(url), parts)))
}

const identity = { name: 'test-client', version: '1.0.0' }

function newV1(): ClientOfV1 {
  return new ClientOfV1(identity)
}

function newV2(kind: ClientKind): Client {
  return new Client(identity, kind === 'v2' ? {} : { versionNegotiation: { mode: 'auto' } })
}

async function connected<C>(client: C, connect: (client: C) => Promise<void>): Promise<TestClient> {
  await connect(client)
  return client as TestClient
}
