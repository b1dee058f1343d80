import { type AskOptions, Refused, send } from './client.ts'

/** The JSON values of server-sent events until `[DONE]`. Throws `Refused` for refusals, error events, and a cut. */
export async function* events(path: string, options: AskOptions): AsyncGenerator<unknown> {
  const response = await send('POST', path, options)
  for await (const { event, data } of blocks(response.body!, options.signal)) {
    if (event === 'error') throw failureOf(data)
    if (data === '[DONE]') return
    if (data !== '') yield JSON.parse(data)
  }
  throw brokenOff()
}

const brokenOff = () => new Refused(0, { error: 'The answer broke off and is incomplete' })

function failureOf(data: string): Refused {
  const { status = 0, ...failure } = JSON.parse(data) as { error: string; details?: string[]; status?: number }
  return new Refused(status, failure)
}

interface Block {
  readonly event: string
  readonly data: string
}

/** The blocks between empty lines, with their fields (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* blocks(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Block> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((reason: unknown) => {
        throw signal?.aborted ? reason : brokenOff()
      })
      if (done) return
      rest += value
      const whole = rest.split('\n\n')
      rest = whole.pop()!
      for (const block of whole) yield blockOf(block)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function blockOf(text: string): Block {
  let event = ''
  const data: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
  }
  return { event, data: data.join('\n') }
}
