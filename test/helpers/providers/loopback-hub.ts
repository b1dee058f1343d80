import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { openStandIn, type Received, type StandIn } from './fake-provider.ts'

/** A file on the hub, as the test wants it served. */
export interface HubContent {
  readonly content: Buffer
  /** Large files are redirected to another host and named by their SHA-256; small ones are sent by the hub itself. */
  readonly large?: boolean
}

/** A model hub and its store of large files, two servers on loopback: two origins, as in the world. */
export interface LoopbackHub {
  readonly endpoint: string
  readonly hub: StandIn
  readonly store: StandIn
  readonly files: Map<string, HubContent>
  /** Takes over an answer; true when it did. */
  intercept: ((request: Received, response: ServerResponse, at: 'hub' | 'store') => boolean) | undefined
  /** Whether the servers know ranges. */
  ranges: boolean
  close(): Promise<void>
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
export const gitBlob = (bytes: Buffer) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')

/** A file of so many bytes (200 KB or more) that is laid out as an ONNX model; its content is random. */
export function onnxOf(bytes: number): Buffer {
  const graph = randomBytes(bytes - 6)
  const length = [graph.length & 0x7f, (graph.length >> 7) & 0x7f, graph.length >> 14]
  // ir_version (field 1) is 8; the graph (field 7) fills the rest.
  return Buffer.concat([Buffer.from([0x08, 8, 0x3a, length[0]! | 0x80, length[1]! | 0x80, length[2]!]), graph])
}

/** Serves `owner/name/resolve/REVISION/path` for every file put into `files` under `owner/name@REVISION/path`. */
export async function openLoopbackHub(): Promise<LoopbackHub> {
  const files = new Map<string, HubContent>()
  const store = await openStandIn((request, response) => {
    if (loopback.intercept?.(request, response, 'store')) return
    send(request, response, files.get(decodeURIComponent(request.url.slice(1))), {})
  })
  const hub = await openStandIn((request, response) => {
    if (loopback.intercept?.(request, response, 'hub')) return
    const match = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(decodeURIComponent(request.url))
    const name = match && `${match[1]}@${match[2]}/${match[3]}`
    const file = name ? files.get(name) : undefined
    if (!name || !file) {
      response.writeHead(404, { 'x-error-code': 'EntryNotFound' })
      return void response.end()
    }
    const commit = { 'x-repo-commit': match[2]! }
    if (!file.large) return send(request, response, file, { ...commit, etag: `"${gitBlob(file.content)}"` })
    response.writeHead(302, {
      ...commit,
      location: `${store.url}/${encodeURIComponent(name)}`,
      'x-linked-size': String(file.content.length),
      'x-linked-etag': `"${sha256(file.content)}"`,
      etag: '"0123"',
    })
    response.end()
  })
  const loopback: LoopbackHub = {
    endpoint: hub.url,
    hub,
    store,
    files,
    intercept: undefined,
    ranges: true,
    close: async () => {
      await hub.close()
      await store.close()
    },
  }
  return loopback

  function send(
    request: Received,
    response: ServerResponse,
    file: HubContent | undefined,
    headers: Record<string, string>,
  ): void {
    if (!file) {
      response.writeHead(404)
      return void response.end()
    }
    const { content } = file
    const from = loopback.ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0
    if (from >= content.length && from > 0) {
      response.writeHead(416, { 'content-range': `bytes */${content.length}` })
      return void response.end()
    }
    const range = { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }
    const partial = loopback.ranges && request.headers.range !== undefined
    response.writeHead(partial ? 206 : 200, {
      ...headers,
      ...(partial && range),
      'content-length': String(content.length - from),
    })
    response.end(content.subarray(from))
  }
}
