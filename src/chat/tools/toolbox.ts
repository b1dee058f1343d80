import { randomUUID } from 'node:crypto'
import { AppError, toAppError } from '../../errors.ts'
import { parseJson, printableLine } from '../../formats/formats.ts'
import { mediaNames, mediaSize } from '../protocol/media.ts'
import type { ContentPart, Message, TextPart, Tool, ToolCall } from '../protocol/messages.ts'
import { offeredName, pinOf } from './pins.ts'
import type { ServerTool, ToolResult, ToolServer } from './tool-server.ts'

/** How often a model may call tools in one turn; then it has to answer. */
export const mostRounds = 16

/** The bounds of one turn's tools. */
const bounds = {
  /** Tools of all servers together: OpenAI takes 128. */
  tools: 128,
  /** Characters of a description, and of a schema as JSON. */
  description: 4_000,
  schema: 40_000,
  /** Calls of one answer of the model; further ones are refused. */
  calls: 32,
  /** Characters of the arguments of a call. */
  arguments: 100_000,
  /** Characters of one text in a result, and of all of a turn. */
  result: 50_000,
  results: 400_000,
  /** Bytes of a file. Anthropic: pictures of 5 MB (https://docs.anthropic.com/en/docs/build-with-claude/vision). */
  media: 5_000_000,
  /** Bytes of a turn. Gemini: 20 MB with base64 (https://ai.google.dev/gemini-api/docs/image-understanding). */
  allMedia: 15_000_000,
  /** Milliseconds that the calls of a turn may take together; the user's time to answer questions is not counted. */
  time: 600_000,
}

export interface AskedCall {
  /** Unlike that of any other call. */
  readonly id: string
  readonly server: string
  readonly tool: string
  /** The hash of the approved tool; see `pinOf`. */
  readonly pin: string
  readonly description: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A call on its way: `asks` while a person is asked about it; the last three are its ends. */
export interface ToolStep {
  readonly call: AskedCall
  readonly state: 'asks' | 'runs' | 'done' | 'failed' | 'refused'
  /** At its end, as the model gets it. */
  readonly result?: Message['content']
}

/** Whether a call may be made; the model is given the reason against it. A promise is a question to a person. */
export type Approve = (call: AskedCall, signal?: AbortSignal) => true | string | Promise<true | string>

export interface ToolboxParts {
  readonly servers: readonly ToolServer[]
  readonly approve: Approve
  /** Leaves out tools that `approve` would refuse in any case; without it all are offered. */
  readonly isOffered?: ((server: string, tool: string, pin: string) => boolean) | undefined
  readonly onCall?: ((call: AskedCall) => void) | undefined
}

/** The tools of some servers, as a model may call them. */
export type Toolbox = ReturnType<typeof createToolbox>

interface Offered {
  readonly server: ToolServer
  readonly tool: ServerTool
  readonly pin: string
}

/** A toolbox over connections that are open. */
export function createToolbox({ servers, approve, isOffered, onCall }: ToolboxParts) {
  let offered = new Map<string, Offered>()
  let room = bounds.results
  let mediaRoom = bounds.allMedia
  let spent = 0

  return {
    /** Reads the tools again and begins a turn; resolves with them and with remarks about those that are left out. */
    async offer(): Promise<{ readonly tools: readonly Tool[]; readonly warnings: readonly string[] }> {
      const found = new Map<string, Offered>()
      const warnings: string[] = []
      room = bounds.results
      mediaRoom = bounds.allMedia
      spent = 0
      for (const server of servers) {
        try {
          const left = (await server.tools({ fresh: true })).filter((tool) => !addTool(found, server, tool))
          if (left.length > 0) warnings.push(tooMuch(server.name, left))
        } catch (thrown) {
          warnings.push(`The tools of ${server.name} are left out: ${toAppError(thrown).message}`)
        }
      }
      offered = found
      return { tools: [...found].map(([name, { tool }]) => functionOf(name, tool)), warnings }
    },
    /** Makes the calls of an answer, one after the other; resolves with a message for each, failures included. */
    async run(calls: readonly ToolCall[], signal?: AbortSignal): Promise<readonly Message[]> {
      const steps = allSteps(calls, signal)
      for (;;) {
        const { done, value } = await steps.next()
        if (done) return value
      }
    },
    /** The same step by step. */
    steps: allSteps,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
    },
  }

  /** False where there are too many tools, or this one is too long. One that may not be called is not offered. */
  function addTool(found: Map<string, Offered>, server: ToolServer, tool: ServerTool): boolean {
    const pin = pinOf(server, tool)
    if (isOffered?.(server.name, tool.name, pin) === false) return true
    if (found.size >= bounds.tools || JSON.stringify(tool.inputSchema).length > bounds.schema) return false
    found.set(offeredName(server.name, tool.name, new Set(found.keys())), { server, tool, pin })
    return true
  }

  async function* allSteps(
    calls: readonly ToolCall[],
    signal?: AbortSignal,
  ): AsyncGenerator<ToolStep, readonly Message[]> {
    const messages: Message[] = []
    for (const [at, call] of calls.entries()) {
      const made = at < bounds.calls ? yield* make(call, signal) : failed(`more than ${bounds.calls} calls at once`)
      const content = bounded(made.content)
      if (made.asked) yield { call: made.asked, state: made.state, result: content }
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
    return messages
  }

  /** Makes a call; its result is parts for the model. A failure is one, too: the model can try something else. */
  async function* make(call: ToolCall, signal: AbortSignal | undefined): AsyncGenerator<ToolStep, MadeCall> {
    let asked: AskedCall | undefined
    try {
      const known = offered.get(call.function.name)
      if (!known) throw new AppError('not_found', 'There is no such tool')
      const args = argumentsOf(call)
      const now = await current(known)
      asked = {
        id: randomUUID(),
        server: now.server.name,
        tool: now.tool.name,
        pin: now.pin,
        description: now.tool.description ?? '',
        arguments: args,
      }
      const asking = approve(asked, signal)
      if (asking instanceof Promise) yield { call: asked, state: 'asks' }
      const verdict = await asking
      if (verdict !== true) return { ...failed(verdict, asked), state: 'refused' }
      if (spent >= bounds.time) throw new AppError('timeout', 'The time for tools in this turn is over')
      onCall?.(asked)
      yield { call: asked, state: 'runs' }
      const { content, isError } = await timed(() => now.server.call(now.tool.name, args, signal))
      return isError
        ? { asked, state: 'failed', content: [textPart('Error: '), ...content] }
        : { asked, state: 'done', content }
    } catch (thrown) {
      // Ctrl-C at a question ends the turn.
      if (signal?.aborted || !(thrown instanceof AppError)) throw thrown
      return failed(thrown.message, asked)
    }
  }

  async function timed(call: () => Promise<ToolResult>): Promise<ToolResult> {
    const began = performance.now()
    try {
      return await call()
    } finally {
      spent += performance.now() - began
    }
  }

  /** The tool as its server describes it now: a changed one has another pin, which has to be approved again. */
  async function current({ server, tool }: Offered): Promise<Offered> {
    const now = (await server.tools()).find(({ name }) => name === tool.name)
    if (!now) throw new AppError('not_found', 'The server does not have this tool any more')
    return { server, tool: now, pin: pinOf(server, now) }
  }

  /** A result within the bounds: a text where it is nothing else. A picture that is too large becomes a remark. */
  function bounded(content: readonly ContentPart[]): Message['content'] {
    const parts: ContentPart[] = []
    for (const part of content.map(fitting)) {
      const before = parts.at(-1)
      if (isText(part) && before && isText(before)) parts[parts.length - 1] = textPart(joined(before.text, part.text))
      else parts.push(part)
    }
    const short = parts.map((part) => (isText(part) ? textPart(shortened(part.text)) : part))
    const [only] = short
    return short.length === 1 && isText(only!) ? only.text : short
  }

  function fitting(part: ContentPart): ContentPart {
    if (isText(part)) return part
    const bytes = mediaSize(part)
    if (bytes <= bounds.media && bytes <= mediaRoom) {
      mediaRoom -= bytes
      return part
    }
    const most =
      bytes > bounds.media ? `more than ${bounds.media} bytes` : 'more pictures and files than one turn holds'
    return textPart(`[${mediaNames(part).one} of ${bytes} bytes was left out: ${most}]`)
  }

  function shortened(text: string): string {
    const most = Math.max(0, Math.min(bounds.result, room))
    room -= Math.min(text.length, most)
    return text.length <= most ? text : `${text.slice(0, most)}\n[cut: ${text.length} characters in all]`
  }
}

/** A call that has ended; `asked` is absent where it was none of a tool that is known. */
interface MadeCall extends Pick<ToolStep, 'state'> {
  readonly asked: AskedCall | undefined
  readonly content: readonly ContentPart[]
}

function failed(reason: string, asked?: AskedCall): MadeCall {
  return { asked, state: 'failed', content: [textPart(`Error: ${reason}`)] }
}

function textPart(text: string): TextPart {
  return { type: 'text', text }
}

function isText(part: ContentPart): part is TextPart {
  return part.type === 'text'
}

/** Texts of a result under each other; the mark of a failure stands on the line of its text. */
function joined(before: string, next: string): string {
  return before === 'Error: ' ? before + next : `${before}\n${next}`
}

/** The remark on tools that are left out for their number or length. */
function tooMuch(server: string, left: readonly ServerTool[]): string {
  const names = left.slice(0, 3).map(({ name }) => printableLine(name).slice(0, 100))
  const all =
    left.length > names.length ? `${names.join(', ')} and ${left.length - names.length} more` : names.join(', ')
  return `Of ${server} these tools are left out, since there are more than ${bounds.tools} or their schemas are too long: ${all}`
}

function functionOf(name: string, { description = '', inputSchema }: ServerTool): Tool {
  return {
    type: 'function',
    function: { name, description: description.slice(0, bounds.description), parameters: inputSchema },
  }
}

/** The arguments of a call. Throws `invalid`, which the model is given. */
function argumentsOf({ function: { arguments: text } }: ToolCall): Readonly<Record<string, unknown>> {
  if (text.length > bounds.arguments) throw new AppError('too_large', 'The arguments are too long')
  const value = text.trim() === '' ? {} : parseJson(text, 'the arguments')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new AppError('invalid', 'The arguments must be a JSON object')
}
