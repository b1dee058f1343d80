import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Contestant } from './contestant.ts'

/** How a chat is asked: a whole answer, a stream at once, a fast one, or one of a second at 20 ms a token. */
export type Kind = 'whole' | 'streamed' | 'paced' | 'steady'

/** The word in a question by which the provider knows how to answer. */
const words = { whole: '', streamed: '', paced: 'paced', steady: 'steady' } as const

const usual = 'Say something of moderate length, please. '.repeat(3)

/** The body of a chat. */
export function bodyOf({ fields, question = usual }: Pick<Contestant, 'fields' | 'question'>, kind: Kind): string {
  const messages = [{ role: 'user', content: question + words[kind] }]
  return JSON.stringify({ ...(kind !== 'whole' && { stream: true }), model: 'bench', messages, ...fields })
}

export interface Answered {
  readonly firstByteMs: number
  /** Bytes on the wire, headers included; the framing of chunks is left out. */
  readonly received: number
  /** Milliseconds between the pieces with content. */
  readonly gaps: readonly number[]
}

/** Idle connections end before the server ends them, after 5 seconds. */
const agent = new Agent({ keepAlive: true, timeout: 3_000 })

/** Asks for one answer. Throws when it is not a whole, good one: a gateway that answers errors looks fast. */
export async function ask(contestant: Contestant, kind: Kind): Promise<Answered> {
  const body = bodyOf(contestant, kind)
  const begun = performance.now()
  const request = httpRequest(contestant.url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...contestant.headers },
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const times: number[] = []
  const pieces: Buffer[] = []
  for await (const piece of response as AsyncIterable<Buffer>) {
    // A gateway may hold back the empty event that carries the role until it knows that more comes.
    if (piece.includes('word')) times.push(performance.now())
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  const text = bytes.toString()
  const end = kind === 'whole' ? /finish_reason|stop_reason/ : /\[DONE\]|message_stop/
  if (response.statusCode !== 200 || !text.includes('word19') || !end.test(text))
    throw new Error(`${contestant.name} answered ${response.statusCode}: ${text.slice(0, 300)}`)
  const head = response.rawHeaders.reduce((sum, header) => sum + header.length + 2, 0)
  return {
    firstByteMs: (times[0] ?? Number.NaN) - begun,
    received: `HTTP/1.1 200 ${response.statusMessage}\r\n\r\n`.length + head + bytes.length,
    gaps: times.slice(1).map((time, at) => time - times[at]!),
  }
}
