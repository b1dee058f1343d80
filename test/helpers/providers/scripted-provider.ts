import { type Answer, completion, json, type Received } from './fake-provider.ts'

/** A turn of a provider: a text, or calls of tools. */
export type Turn = string | readonly (readonly [name: string, args: object | string])[]

/** A provider that answers one turn after the other, streamed or not; beyond the last it repeats it. */
export function scripted(turns: readonly Turn[]): Answer {
  let at = 0
  return (request, response) => {
    const turn = turns[Math.min(at++, turns.length - 1)]!
    const calls = typeof turn === 'string' ? [] : turn.map(callOf)
    const finish = calls.length > 0 ? 'tool_calls' : 'stop'
    const content = typeof turn === 'string' ? turn : null
    if (JSON.parse(request.body).stream !== true) {
      const whole = completion('') as { choices: object[] }
      const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
      return json(response, 200, { ...whole, choices: [{ index: 0, message, finish_reason: finish }] })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = (delta: object, finish_reason: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: `chatcmpl-${at}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: 'fake', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      )
    const [first = '', ...pieces] = typeof turn === 'string' ? piecesOf(turn) : []
    event({ role: 'assistant', content: first })
    for (const piece of pieces) event({ content: piece })
    for (const [index, call] of calls.entries()) {
      const { arguments: args, name } = call.function
      event({ tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: '' } }] })
      event({ tool_calls: [{ index, function: { arguments: args } }] })
    }
    event({}, finish)
    response.end('data: [DONE]\n\n')
  }
}

/** Pieces of 100,000 characters: no provider sends an event of a megabyte. */
function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,100000}/g) ?? []
}

function callOf([name, args]: readonly [string, object | string], index: number) {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return { id: `call_${index}`, type: 'function' as const, function: { name, arguments: text } }
}

type SentMessage = { readonly role: string; readonly content: string | null; readonly tool_call_id?: string }

/** The body of a request. */
export function sent({ body }: Received): {
  readonly messages: readonly SentMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description: string } }[]
  readonly tool_choice?: string
} {
  return JSON.parse(body)
}

/** The texts that tools gave back, in the last request. */
export function resultsIn(received: readonly Received[]): readonly (string | null)[] {
  return sent(received.at(-1)!)
    .messages.filter(({ role }) => role === 'tool')
    .map(({ content }) => content)
}
